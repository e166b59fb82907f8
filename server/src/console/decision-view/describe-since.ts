import { isObject } from '../../core/decide/replayable-facts.ts'
import { OUTCOME_TYPES, type OutcomeType, VERDICTS, type Verdict } from '../../core/vocabularies.ts'

/** A person's review of a decision, as the view lists it. */
export interface ShownReview {
  id: string
  verdict: Verdict | null
  reviewer: string
  reason: string
  overrides: boolean
  at: string
}

/** What happened after a decision, as the view lists it. */
export interface ShownOutcome {
  id: string
  type: OutcomeType | null
  amount: { amount: number; currency: string } | null
  days_past_due: number | null
  at: string
}

type Body = Record<string, unknown>

/** Describes the reviews and outcomes of a decision; stored bodies may have been altered in any way. */
export function describeSince(
  reviews: readonly Body[],
  outcomes: readonly Body[],
): { reviews: ShownReview[]; outcomes: ShownOutcome[] } {
  return { reviews: reviews.map(describeReview), outcomes: outcomes.map(describeOutcome) }
}

function describeReview({ id, verdict, reviewer, reason, overrides, created_at }: Body): ShownReview {
  const person = isObject(reviewer) ? reviewer : {}
  return {
    id: String(id),
    verdict: VERDICTS.find((known) => known === verdict) ?? null,
    reviewer: String(person.name ?? person.id ?? ''),
    reason: String(reason ?? ''),
    overrides: overrides === true,
    at: String(created_at),
  }
}

function describeOutcome({ id, type, amount, currency, days_past_due, occurred_at }: Body): ShownOutcome {
  return {
    id: String(id),
    type: OUTCOME_TYPES.find((known) => known === type) ?? null,
    amount: typeof amount === 'number' && typeof currency === 'string' ? { amount, currency } : null,
    days_past_due: typeof days_past_due === 'number' ? days_past_due : null,
    at: String(occurred_at),
  }
}
