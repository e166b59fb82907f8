import { compareText } from '../plain-spelling.ts'
import type { OutcomeType } from '../vocabularies.ts'

/** One report of an outcome and when it happened; ids sort in the order in which the reports were made. */
export interface Outcome {
  id: string
  type: OutcomeType
  occurredAt: string
}

/** What an outcome means for the course of its decision. */
interface Course {
  /** What happens to the credit; null if that is not known from the outcome. */
  credit: 'opens' | 'goes on' | 'ends' | null
  /** Whether it is neither good nor bad. */
  isNeutral?: true
  /** The only outcomes that can replace it; without it, any later outcome does. */
  replacedOnlyBy?: readonly OutcomeType[]
}

const FINAL: readonly OutcomeType[] = ['fraud_confirmed', 'access_abused']

const COURSES: Readonly<Record<OutcomeType, Course>> = {
  funded: { credit: 'opens', isNeutral: true },
  current: { credit: 'goes on' },
  late: { credit: 'goes on' },
  default: { credit: 'goes on', replacedOnlyBy: ['repaid', 'settled', 'charged_off', ...FINAL] },
  charged_off: { credit: 'ends', replacedOnlyBy: ['repaid', 'settled', ...FINAL] },
  repaid: { credit: 'ends' },
  settled: { credit: 'ends' },
  fraud_confirmed: { credit: null, replacedOnlyBy: [] },
  access_abused: { credit: null, replacedOnlyBy: [] },
  closed: { credit: 'ends', isNeutral: true },
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

/** The `funded` reports of one credit. A draw after the end is a new debt; the old one stays ended. */
export interface Debts<Reported> {
  /** Those that are still owed. */
  open: Reported[]
  /** Those of each debt that was repaid in full. */
  repaid: Reported[][]
}

/** What of a credit is still owed and what was repaid, after all reports about it. */
export function debtsOf<Reported extends Outcome>(reports: readonly Reported[]): Debts<Reported> {
  const repaid = new Set<Reported[]>()
  let draws: Reported[] = []
  let hasEnded = false
  let current: Reported | undefined
  for (const report of inOrder(reports)) {
    current = outcomeAfter(current, report)
    const { credit } = COURSES[report.type]
    if (credit === 'opens') {
      draws = hasEnded ? [report] : [...draws, report]
      hasEnded = false
    } else if (credit === 'ends') hasEnded = true
    // The credit goes on after all, for example because a repayment bounced.
    else if (current === report && credit === 'goes on') hasEnded = false
    if (current !== report || isNeutral(report.type)) continue
    if (report.type === 'repaid') repaid.add(draws)
    else repaid.delete(draws)
  }
  // What ended in fraud or abuse was repaid only to get more.
  const isFinal = current !== undefined && FINAL.includes(current.type)
  return { open: hasEnded ? [] : draws, repaid: isFinal ? [] : [...repaid] }
}

/** Whether an outcome says that the credit was not repaid. */
export function isDefault(type: OutcomeType): boolean {
  return type === 'default' || type === 'charged_off'
}

/** Whether an outcome ends a credit, and with it what is left of its offer. */
export function endsCredit(type: OutcomeType): boolean {
  return COURSES[type].credit === 'ends'
}

/** Whether an outcome changes an open offer: the credit was paid out, in full or in part, or ended. */
export function changesOffer(type: OutcomeType): boolean {
  return COURSES[type].credit === 'opens' || endsCredit(type)
}

/** Whether an outcome is neither good nor bad: it only opens or closes the credit. */
export function isNeutral(type: OutcomeType): boolean {
  return COURSES[type].isNeutral === true
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
  const allowed = COURSES[earlier.type].replacedOnlyBy
  return allowed === undefined || allowed.includes(later.type) ? later : earlier
}
