import { moneyOf } from '../money.ts'
import type { EntityState } from './entity-state.ts'
import { newestOf } from './newest-of.ts'
import { endsCredit, isNeutral, type Outcome, type OutcomeType } from './outcome-course.ts'
import { ownProperty } from './own-property.ts'

/** One outcome of one of the entity's own decisions. */
export interface OutcomeFact extends Outcome {
  decisionId: string
  daysPastDue?: number
  /** What was paid out, for `funded`; other outcomes may carry an amount too, which changes nothing here. */
  amount?: number
  currency?: string
}

/** A credit that was paid out and has not ended. */
export interface OpenCredit {
  currency: string
  units: string
  fundedAt: string
}

/** How many decisions stand at each outcome, what is outstanding by decision, and the longest delay of a payment. */
export interface HistoryState {
  outcomes: Partial<Record<OutcomeType, number>>
  openCredits: Record<string, OpenCredit>
  worstDaysPastDue: number
}

// Nobody has a hundred credits open at once; a caller who never reports an end must not make the state grow without one.
const OPEN_CREDITS_KEPT = 100

/**
 * Takes an outcome into the entity's own history, which counts decisions, not reports.
 *
 * `supersedes` is the outcome the decision stood at so far; its count is taken back. Outcomes that do not replace it (see
 * `effectiveOutcome`) are not to be applied, but for `funded` and `closed`: they are never counted and take nothing back,
 * they only keep what is outstanding.
 */
export function applyOutcome(state: EntityState, outcome: OutcomeFact, supersedes?: Outcome): EntityState {
  const { outcomes, openCredits, worstDaysPastDue } = state.history
  return {
    ...state,
    history: {
      outcomes: isNeutral(outcome.type) ? outcomes : recounted(outcomes, outcome.type, supersedes?.type),
      openCredits: withCredit(openCredits, outcome, supersedes),
      worstDaysPastDue: Math.max(worstDaysPastDue, outcome.daysPastDue ?? 0),
    },
  }
}

function recounted(
  outcomes: HistoryState['outcomes'],
  type: OutcomeType,
  superseded: OutcomeType | undefined,
): HistoryState['outcomes'] {
  const counts = { ...outcomes, [type]: (ownProperty(outcomes, type) ?? 0) + 1 }
  if (superseded === undefined || isNeutral(superseded)) return counts
  const left = (ownProperty(counts, superseded) ?? 0) - 1
  if (left > 0) counts[superseded] = left
  else delete counts[superseded]
  return counts
}

function withCredit(
  credits: HistoryState['openCredits'],
  { type, decisionId, occurredAt, amount, currency }: OutcomeFact,
  supersedes: Outcome | undefined,
): HistoryState['openCredits'] {
  if (endsCredit(type)) {
    const { [decisionId]: _, ...others } = credits
    return others
  }
  // A funding reported after the credit has ended opens nothing.
  const hasEnded = supersedes !== undefined && endsCredit(supersedes.type)
  if (type !== 'funded' || hasEnded || amount === undefined || currency === undefined) return credits
  const credit = { currency, units: moneyOf(amount).toString(), fundedAt: occurredAt }
  return newestOf({ ...credits, [decisionId]: credit }, OPEN_CREDITS_KEPT, ({ fundedAt }) => fundedAt)
}
