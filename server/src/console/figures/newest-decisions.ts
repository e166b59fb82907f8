import { type RequestedAmount, requestedIn } from '../../core/facts/read-fact.ts'
import { objectIn } from '../../core/stored-json.ts'
import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { NewestDecision } from '../../store/environment/overview.ts'
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
  /** Null where the trace was deleted or altered. */
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

/** A stored decision as a list shows it. What is altered so that it cannot be read is left out of its row. */
export function listedDecision(row: NewestDecision, reviews: ReadonlyMap<string, GrantedReview>): ListedDecision {
  const { recommended_limit } = objectIn(row.body) ?? {}
  return {
    id: row.id,
    entity: { id: row.entity_id, name: row.entity_name, external_id: row.external_id },
    product: row.product,
    verdict: VERDICTS.find((verdict) => verdict === row.verdict)!,
    risk_tier: row.risk_tier,
    requested: requestedOf(row.facts),
    limit: typeof recommended_limit === 'number' ? recommended_limit : null,
    review: reviews.get(row.review_id ?? '') ?? null,
    score: scoreOf(row.score),
    decided_at: row.created_at,
  }
}

/** The amount that a decision was asked for, by its stored facts; null for a decision about access. */
export function requestedOf(facts: string | null): RequestedAmount | null {
  return requestedIn(objectIn(facts)?.features)
}

/** The score at the beginning of a part of a trace. */
function scoreOf(part: string | null): ListedScore | null {
  const { total, cutoff } = objectIn(/^(\{[^{}]*\})/.exec(part ?? '')?.[1] ?? null) ?? {}
  return typeof total === 'number' && typeof cutoff === 'number' ? { total, cutoff } : null
}
