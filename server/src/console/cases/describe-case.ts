import type { DecisionTrace } from '../../core/decide/evaluation.ts'
import type { CaseWithDecision } from '../../store/environment/cases.ts'
import type { ReviewKey } from '../../store/environment/reviews.ts'
import { nameReviewer, type RecordedReview } from '../../underwriting/review-decision.ts'
import { type RequestedAmount, requestedOf } from '../figures/newest-decisions.ts'
import { describeTrigger, type Trigger } from './describe-trigger.ts'

/** A reason of a decision, as it was returned to the caller. */
export interface StatedReason {
  code: string
  label: string
  impact: 'positive' | 'negative'
}

/** How a case ended: who decided, when, what and why. */
export interface CaseEnd {
  review_id: string
  by: string
  /** The id of the reviewer: an operator's, or one that a caller of the API gave. */
  by_id: string
  at: string
  verdict: RecordedReview['verdict']
  reason: string
  limit: { amount: number; currency: string } | null
  conditions: string[]
}

/** A case as the queue lists it. */
export interface ListedCase {
  id: string
  entity: { id: string; name: string; external_id: string; type: string | null; country: string | null; since: string }
  opened_at: string
  due_at: string
  /** How many decisions of the case wait for a review. */
  waiting: number
  assignee: { id: string; name: string; since: string } | null
  decision: {
    id: string
    product: string
    requested: RequestedAmount | null
    score: number | null
    cutoff: number | null
    risk_tier: string
    decided_at: string
  }
  trigger: Trigger
  prior_reviews: number
  neighbours: number
  bad_neighbours: number
  /** How many paths to bad outcomes the decision saw. */
  bad_paths: number
  end: CaseEnd | null
}

const HOUR_MS = 3_600_000

/** What describing cases takes besides their rows. */
export interface CaseNames {
  withinHours: number
  /** Names operators. */
  nameOf: (operatorId: string) => string
  /** The API keys that sent reviews, by the id of the review. */
  keys: ReadonlyMap<string, ReviewKey>
}

/** Describes a case for the queue. */
export function describeCase(row: CaseWithDecision, { withinHours, nameOf, keys }: CaseNames): ListedCase {
  const trace = traceOf(row)
  return {
    id: row.id,
    entity: {
      id: row.entity_id,
      name: row.entity_name ?? row.external_id,
      external_id: row.external_id,
      type: row.entity_type,
      country: row.country,
      since: row.entity_since,
    },
    opened_at: row.opened_at,
    due_at: new Date(Date.parse(row.opened_at) + withinHours * HOUR_MS).toISOString(),
    waiting: row.waiting,
    assignee:
      row.assignee_id === null ? null : { id: row.assignee_id, name: nameOf(row.assignee_id), since: row.assigned_at! },
    decision: {
      id: row.decision_id,
      product: row.product,
      requested: requestedOf(row.facts),
      score: trace?.score.total ?? null,
      cutoff: trace?.score.cutoff ?? null,
      risk_tier: row.risk_tier,
      decided_at: row.decided_at,
    },
    trigger: describeTrigger(trace, reasonsOf(row.decision_body), row),
    prior_reviews: row.prior_reviews,
    neighbours: row.neighbours,
    bad_neighbours: row.bad_neighbours,
    bad_paths: pathsOf(row.graph).length,
    end: row.review_body === null ? null : endOf(row.review_body, keys),
  }
}

/** The trace of the decision that a case is about; null if its evidence was deleted. */
export function traceOf({ trace }: Pick<CaseWithDecision, 'trace'>): DecisionTrace | null {
  return trace === null ? null : (JSON.parse(trace) as DecisionTrace)
}

/** The principal reasons of a stored decision. */
export function reasonsOf(body: string): StatedReason[] {
  return (JSON.parse(body) as { reason_codes?: StatedReason[] }).reason_codes ?? []
}

/** A path to a bad outcome that a decision saw. */
export interface SeenPath {
  entity_id: string
  edges: string[]
  strength: number
  share: number
}

/** The paths to bad outcomes that a decision saw; none where they were withheld. */
export function pathsOf(graph: string | null): SeenPath[] {
  return graph === null ? [] : ((JSON.parse(graph) as { paths?: SeenPath[] }).paths ?? [])
}

/** Who decided, when and why, of a stored review; `keys` are those that sent reviews. */
export function endOf(body: string, keys: ReadonlyMap<string, ReviewKey>): CaseEnd {
  const review = JSON.parse(body) as RecordedReview
  const { id, reviewer, created_at, verdict, reason, recommended_limit, currency, conditions = [] } = review
  return {
    review_id: id,
    by: nameReviewer(reviewer, keys.get(id)),
    by_id: reviewer.id,
    at: created_at,
    verdict,
    reason,
    limit: recommended_limit === undefined || currency === undefined ? null : { amount: recommended_limit, currency },
    conditions: conditions.map(({ label }) => label),
  }
}
