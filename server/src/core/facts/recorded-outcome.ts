import type { OutcomeType } from '../vocabularies.ts'
import type { OutcomeFact } from './history-state.ts'

/** The fields of a recorded outcome, as the API returned it, that count as facts. */
export interface RecordedOutcome {
  id: string
  decision_id: string
  type: OutcomeType
  occurred_at: string
  days_past_due?: number
  amount?: number
  currency?: string
}

/** The fact that a recorded outcome reports. */
export function outcomeFact({
  id,
  decision_id,
  type,
  occurred_at,
  days_past_due,
  amount,
  currency,
}: RecordedOutcome): OutcomeFact {
  return {
    id,
    decisionId: decision_id,
    type,
    occurredAt: occurred_at,
    ...(days_past_due !== undefined && { daysPastDue: days_past_due }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  }
}
