import type { EntityState } from './entity-state.ts'
import { laterOf } from './newest-of.ts'
import { ownProperty } from './own-property.ts'

/** What can become of a decision in the real world. */
export type OutcomeType =
  | 'funded'
  | 'current'
  | 'late'
  | 'default'
  | 'charged_off'
  | 'repaid'
  | 'settled'
  | 'fraud_confirmed'
  | 'access_abused'
  | 'closed'

/** One outcome of one of the entity's own decisions. */
export interface OutcomeFact {
  type: OutcomeType
  occurredAt: string
  daysPastDue?: number
  amount?: number
  currency?: string
}

/** How often each outcome has occurred and when last, and the longest delay of a payment. */
export interface HistoryState {
  outcomes: Partial<Record<OutcomeType, { count: number; latestAt: string }>>
  worstDaysPastDue: number
}

/** Takes an outcome into the entity's own history. */
export function applyOutcome(state: EntityState, outcome: OutcomeFact): EntityState {
  const { outcomes, worstDaysPastDue } = state.history
  const known = ownProperty(outcomes, outcome.type)
  const latestAt = laterOf(known?.latestAt, outcome.occurredAt)
  return {
    ...state,
    history: {
      outcomes: { ...outcomes, [outcome.type]: { count: (known?.count ?? 0) + 1, latestAt } },
      worstDaysPastDue: Math.max(worstDaysPastDue, outcome.daysPastDue ?? 0),
    },
  }
}
