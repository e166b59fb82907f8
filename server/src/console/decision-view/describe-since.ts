import { OUTCOME_TYPES, type OutcomeType } from '../../core/vocabularies.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { parseBodies } from '../../underwriting/describe-evidence.ts'
import { describeReview, type ShownReview } from './describe-review.ts'

/** What happened after a decision, as the view lists it. */
export interface ShownOutcome {
  id: string
  type: OutcomeType | null
  amount: { amount: number; currency: string } | null
  days_past_due: number | null
  /** Why it was recorded although it does not fit the decision; null if it was reported without an override. */
  override_note: string | null
  at: string
}

type Body = Record<string, unknown>

/** Reads the reviews and outcomes of a decision; stored bodies may have been altered in any way. */
export async function describeSince(
  store: EnvironmentStore,
  organizationId: string,
  decisionId: string,
): Promise<{ reviews: ShownReview[]; outcomes: ShownOutcome[] }> {
  const since = await store.decisions.recordedSince(organizationId, decisionId)
  const reviews = parseBodies(since.reviews)
  const keys = await store.reviews.keys(
    organizationId,
    reviews.map(({ id }) => String(id)),
  )
  return {
    reviews: reviews.map((body) => describeReview(body, keys)),
    outcomes: parseBodies(since.outcomes).map(describeOutcome),
  }
}

function describeOutcome(body: Body): ShownOutcome {
  const { id, type, amount, currency, days_past_due, override, note, occurred_at } = body
  return {
    id: String(id),
    type: OUTCOME_TYPES.find((known) => known === type) ?? null,
    amount: typeof amount === 'number' && typeof currency === 'string' ? { amount, currency } : null,
    days_past_due: typeof days_past_due === 'number' ? days_past_due : null,
    override_note: override === true ? String(note ?? '') : null,
    at: String(occurred_at),
  }
}
