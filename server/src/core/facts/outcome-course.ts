import { compareText } from '../compare-text.ts'
import type { OutcomeType } from '../vocabularies.ts'

/** One report of an outcome and when it happened; ids sort in the order in which the reports were made. */
export interface Outcome {
  id: string
  type: OutcomeType
  occurredAt: string
}

const NEUTRAL: readonly OutcomeType[] = ['funded', 'closed']
const FINAL: readonly OutcomeType[] = ['fraud_confirmed', 'access_abused']
const CREDIT_ENDS: readonly OutcomeType[] = ['repaid', 'settled', 'charged_off', 'closed']
const CREDIT_GOES_ON: readonly OutcomeType[] = ['current', 'late', 'default']

/** The outcomes that can replace an outcome; one that is not listed is replaced by any later outcome. */
const REPLACED_ONLY_BY: Partial<Record<OutcomeType, readonly OutcomeType[]>> = {
  default: ['repaid', 'settled', 'charged_off', ...FINAL],
  charged_off: ['repaid', 'settled', ...FINAL],
  fraud_confirmed: [],
  access_abused: [],
}

/**
 * The current outcome of a decision after all reports about it, in whatever order they were made.
 *
 * | current outcome                  | is replaced by a later outcome                               |
 * |----------------------------------|--------------------------------------------------------------|
 * | none                             | any                                                          |
 * | funded, closed                   | any but funded and closed, whenever it happened              |
 * | current, late, repaid, settled   | any but funded and closed                                    |
 * | default                          | repaid, settled (a cure), charged_off, fraud, abuse          |
 * | charged_off                      | repaid, settled (a cure), fraud, abuse                       |
 * | fraud_confirmed, access_abused   | none; they replace any other outcome, whenever it happened   |
 *
 * Of two reports for the same instant, the one made later corrects the other. A settled credit is no longer a default,
 * but it does not count as repaid either.
 */
export function currentOutcome<Reported extends Outcome>(reports: readonly Reported[]): Reported | undefined {
  return inOrder(reports).reduce<Reported | undefined>(outcomeAfter, undefined)
}

/** The `funded` reports of a credit that are still owed after all reports about it. */
export function openDrawsOf<Reported extends Outcome>(reports: readonly Reported[]): Reported[] {
  let draws: Reported[] = []
  let hasEnded = false
  let current: Reported | undefined
  for (const report of inOrder(reports)) {
    current = outcomeAfter(current, report)
    if (report.type === 'funded') {
      // A draw after the end is a new debt; the old one stays ended.
      if (hasEnded) draws = []
      draws.push(report)
      hasEnded = false
    } else if (CREDIT_ENDS.includes(report.type)) hasEnded = true
    // The credit goes on after all, for example because a repayment bounced.
    else if (current === report && CREDIT_GOES_ON.includes(report.type)) hasEnded = false
  }
  return hasEnded ? [] : draws
}

/** Whether an outcome is neither good nor bad: it only opens or closes the credit. */
export function isNeutral(type: OutcomeType): boolean {
  return NEUTRAL.includes(type)
}

/** Sorts reports by when they happened; at one instant `funded` comes first and `closed` last. */
function inOrder<Reported extends Outcome>(reports: readonly Reported[]): Reported[] {
  return reports.toSorted(
    (a, b) =>
      compareText(a.occurredAt, b.occurredAt) ||
      orderAtInstant(a.type) - orderAtInstant(b.type) ||
      compareText(a.id, b.id),
  )
}

function orderAtInstant(type: OutcomeType): number {
  if (type === 'funded') return 0
  return type === 'closed' ? 2 : 1
}

function outcomeAfter<Reported extends Outcome>(earlier: Reported | undefined, later: Reported): Reported {
  if (earlier === undefined) return later
  if (isNeutral(later.type)) return earlier
  const allowed = REPLACED_ONLY_BY[earlier.type]
  return allowed === undefined || allowed.includes(later.type) ? later : earlier
}
