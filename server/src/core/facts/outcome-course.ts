import type { OutcomeType } from '../vocabularies.ts'

/** One report of what became of a decision, and when that happened; ids are in the order in which reports were made. */
export interface Outcome {
  id: string
  type: OutcomeType
  occurredAt: string
}

const NEUTRAL: readonly OutcomeType[] = ['funded', 'closed']
const FINAL: readonly OutcomeType[] = ['fraud_confirmed', 'access_abused']
const CREDIT_ENDS: readonly OutcomeType[] = ['repaid', 'settled', 'charged_off', 'closed']
const CREDIT_GOES_ON: readonly OutcomeType[] = ['current', 'late', 'default']

/** What may follow an outcome that does not simply give way to whatever happens later. */
const MAY_FOLLOW: Partial<Record<OutcomeType, readonly OutcomeType[]>> = {
  default: ['repaid', 'settled', 'charged_off', ...FINAL],
  charged_off: ['repaid', 'settled', ...FINAL],
  fraud_confirmed: [],
  access_abused: [],
}

/**
 * The outcome a decision stands at, after all that was reported of it; the reports may come in any order.
 *
 * | stands at                        | gives way to, if that happened later                         |
 * |----------------------------------|--------------------------------------------------------------|
 * | nothing yet                      | anything                                                     |
 * | funded, closed                   | anything but funded and closed, whenever it happened         |
 * | current, late, repaid, settled   | anything but funded and closed                               |
 * | default                          | repaid, settled (a cure), charged_off, fraud, abuse          |
 * | charged_off                      | repaid, settled (a cure), fraud, abuse                       |
 * | fraud_confirmed, access_abused   | nothing; and they replace anything else, whenever it happened |
 *
 * Of two reports of one instant, the one made later is the correction. A settled credit is no default any more, but it
 * was not repaid either.
 */
export function currentOutcome<Reported extends Outcome>(reports: readonly Reported[]): Reported | undefined {
  return inOrder(reports).reduce<Reported | undefined>(standsAfter, undefined)
}

/** The reports of what a credit paid out that is still owed, after all that was reported of it. */
export function openDrawsOf<Reported extends Outcome>(reports: readonly Reported[]): Reported[] {
  let draws: Reported[] = []
  let hasEnded = false
  let fate: Reported | undefined
  for (const report of inOrder(reports)) {
    fate = standsAfter(fate, report)
    if (report.type === 'funded') {
      // What is drawn after the end is a new debt; the old one stays paid.
      if (hasEnded) draws = []
      draws.push(report)
      hasEnded = false
    } else if (CREDIT_ENDS.includes(report.type)) hasEnded = true
    // A repayment that bounced: what ended the credit is taken back, like any outcome, by what came of it later.
    else if (fate === report && CREDIT_GOES_ON.includes(report.type)) hasEnded = false
  }
  return hasEnded ? [] : draws
}

/** Whether an outcome says neither good nor bad: it only opens or closes the books. */
export function isNeutral(type: OutcomeType): boolean {
  return NEUTRAL.includes(type)
}

/** The order in which things happened. At one instant the books open before and close after all else. */
function inOrder<Reported extends Outcome>(reports: readonly Reported[]): Reported[] {
  return reports.toSorted(
    (a, b) =>
      compare(a.occurredAt, b.occurredAt) || placeAtInstant(a.type) - placeAtInstant(b.type) || compare(a.id, b.id),
  )
}

function placeAtInstant(type: OutcomeType): number {
  if (type === 'funded') return 0
  return type === 'closed' ? 2 : 1
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function standsAfter<Reported extends Outcome>(earlier: Reported | undefined, later: Reported): Reported {
  if (earlier === undefined) return later
  if (isNeutral(later.type)) return earlier
  const allowed = MAY_FOLLOW[earlier.type]
  return allowed === undefined || allowed.includes(later.type) ? later : earlier
}
