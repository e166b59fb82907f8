import { currentOutcome, type Outcome } from '../facts/outcome-course.ts'
import type { OutcomeType } from '../vocabularies.ts'

/** An outcome report of a decision that counts. */
export type ReportedOutcome = Outcome & {
  decisionId: string
  /** How late the payment is; null if the report does not say. */
  daysPastDue: number | null
}

/** The current outcome of a decision, and whether it is a good or a bad end; null where it does not say. */
export interface Ended {
  outcome: OutcomeType | null
  end: 'good' | 'bad' | null
}

/** From so many days on, a late payment counts as bad: 90 days past due is what regulators call a default. */
export const BAD_FROM_DAYS_LATE = 90

/** A credit that was settled ended for less than was owed; otherwise it is repaid. */
const ENDS: Readonly<Record<OutcomeType, Ended['end']>> = {
  funded: null,
  current: 'good',
  late: 'good',
  default: 'bad',
  charged_off: 'bad',
  repaid: 'good',
  settled: 'bad',
  fraud_confirmed: 'bad',
  access_abused: 'bad',
  closed: null,
}

/** How a decision ended, or is going, after all reports about it. */
export function howItEnded(reports: readonly ReportedOutcome[]): Ended {
  const current = currentOutcome(reports)
  if (current === undefined) return { outcome: null, end: null }
  const { type, daysPastDue } = current
  const isVeryLate = type === 'late' && daysPastDue !== null && daysPastDue >= BAD_FROM_DAYS_LATE
  return { outcome: type, end: isVeryLate ? 'bad' : ENDS[type] }
}
