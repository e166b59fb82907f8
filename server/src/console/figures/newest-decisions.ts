import type { RequestedAmount } from '../../core/facts/read-fact.ts'
import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { NewestDecision } from '../../store/environment/overview.ts'
import type { RowOf } from '../../store/schema/tables.ts'
import { type GrantedReview, newestReviews } from '../decision-view/describe-review.ts'

/** A decision in the list of the newest. */
export interface ListedDecision {
  id: string
  entity: { id: string; name: string | null; external_id: string | null }
  product: string
  verdict: Verdict
  risk_tier: string
  /** What was asked for; null for a decision without an amount. */
  requested: RequestedAmount | null
  /** What the policy could lend, in the currency of the request. */
  limit: number | null
  /** The newest review: what a person granted; null if none has looked at it. */
  review: GrantedReview | null
  score: ListedScore | null
  decided_at: string
}

/** The score of a decision, and the cutoff of the policy that decided. */
export interface ListedScore {
  total: number
  cutoff: number
}

/** Reads the newest decisions with the amounts that were asked for and recommended. */
export async function newestDecisions(
  store: EnvironmentStore,
  organizationId: string,
  limit: number,
): Promise<ListedDecision[]> {
  const rows = await store.overview.newestDecisions(organizationId, limit)
  const reviews = await newestReviews(store, organizationId, rows)
  return rows.map((row) => listedDecision(row, reviews))
}

/** A stored decision as a list shows it. */
export function listedDecision(row: NewestDecision, reviews: ReadonlyMap<string, GrantedReview>): ListedDecision {
  return {
    id: row.id,
    entity: { id: row.entity_id, name: row.entity_name, external_id: row.external_id },
    product: row.product,
    verdict: VERDICTS.find((verdict) => verdict === row.verdict)!,
    risk_tier: row.risk_tier,
    requested: requestedOf(row),
    limit: row.recommended_limit,
    review: reviews.get(row.review_id ?? '') ?? null,
    score: row.score === null || row.score_cutoff === null ? null : { total: row.score, cutoff: row.score_cutoff },
    decided_at: row.created_at,
  }
}

/** The amount that a decision was asked for; null for a decision about access. */
export function requestedOf({
  requested_amount: amount,
  currency,
}: Pick<RowOf<'decisions'>, 'requested_amount' | 'currency'>): RequestedAmount | null {
  return amount === null || currency === null ? null : { amount, currency }
}
