import type { DecisionStanding } from './decision-standing.ts'
import { moneyOf } from './money.ts'
import type { OutcomeType } from './vocabularies.ts'

/** What of an outcome cannot belong to its decision. */
export const MISMATCHES = ['not_approved', 'replaced', 'other_currency', 'amount_too_high'] as const
/** What of an outcome cannot belong to its decision. */
export type Mismatch = (typeof MISMATCHES)[number]

/** The parts of an outcome that have to fit its decision. */
export interface ReportedOutcome {
  type: OutcomeType
  amount?: number
  currency?: string
}

/** A slip of the decimal point or of the currency goes beyond it; interest, fees and a raised limit do not. */
const AMOUNT_TIMES_MAX = 10n

/**
 * Finds why an outcome cannot belong to its decision. An amount is compared with that of the decision's standing, in the same
 * currency; a decision without an amount has nothing to compare with.
 */
export function mismatchesOf(
  { type, amount, currency }: ReportedOutcome,
  decision: DecisionStanding & { currency: string | null; isReplaced: boolean },
): Mismatch[] {
  const mismatches: Mismatch[] = []
  if (type === 'funded' && decision.verdict === 'decline') mismatches.push('not_approved')
  if (type === 'funded' && decision.isReplaced) mismatches.push('replaced')
  if (amount === undefined || currency === undefined || decision.amount === null) return mismatches
  if (currency !== decision.currency) mismatches.push('other_currency')
  else if (moneyOf(amount) > AMOUNT_TIMES_MAX * moneyOf(decision.amount)) mismatches.push('amount_too_high')
  return mismatches
}
