import { scoreIn } from '../../core/decide/evaluation.ts'
import type { RequestedAmount } from '../../core/facts/read-fact.ts'
import { isObject, objectIn } from '../../core/stored-json.ts'
import type { Verdict } from '../../core/vocabularies.ts'
import { timeOfId } from '../../ids/new-id.ts'
import type { CaseWithDecision } from '../../store/environment/cases.ts'
import type { ReviewKey } from '../../store/environment/reviews.ts'
import { parseBodies } from '../../underwriting/describe-evidence.ts'
import { nameReviewer } from '../../underwriting/review-decision.ts'
import { type ReviewEvidence, readReviewEvidence } from '../../underwriting/review-evidence.ts'
import { describeReview } from '../decision-view/describe-review.ts'
import { entityName } from '../entities/entity-name.ts'
import { requestedOf } from '../figures/newest-decisions.ts'
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
  /** Null where the review was altered so that it cannot be read. */
  verdict: Verdict | null
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
  /** The first of two signatures; of a decided case, the one that it was decided under. */
  signature: { id: string; by: string; by_id: string } | null
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
  const { trace } = readReviewEvidence(row.documents)
  const score = trace && scoreIn(trace)
  return {
    id: row.id,
    entity: {
      id: row.entity_id,
      name: entityName({ name: row.entity_name, external_id: row.external_id }, row.entity_id),
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
      requested: requestedOf(row),
      score: score?.total ?? null,
      cutoff: score?.cutoff ?? null,
      risk_tier: row.risk_tier,
      decided_at: row.decided_at,
    },
    trigger: describeTrigger({ state: evidenceStateOf(row), trace }, reasonsOf(row.documents.body), row),
    signature:
      row.signature_id === null ? null : { id: row.signature_id, by: nameOf(row.signer_id!), by_id: row.signer_id! },
    prior_reviews: row.prior_reviews,
    neighbours: row.neighbours,
    bad_neighbours: row.bad_neighbours,
    bad_paths: pathsOf(row.documents.graph).length,
    end: endOfCase(row, keys),
  }
}

/** Whether the decision of a case and its evidence can be read; one part that was altered is enough to say so. */
function evidenceStateOf(row: CaseWithDecision): ReviewEvidence['state'] {
  const texts = [row.documents.body, row.documents.graph].filter((text) => text !== null)
  return parseBodies(texts).length < texts.length ? 'altered' : readReviewEvidence(row.documents).state
}

/** The principal reasons of a stored decision; none where it was altered so that it cannot be read. */
export function reasonsOf(body: string | null): StatedReason[] {
  return objectsIn(objectIn(body)?.reason_codes).map(({ code, label, impact }) => ({
    code: String(code),
    label: String(label),
    impact: impact === 'positive' ? 'positive' : 'negative',
  }))
}

/** A path to a bad outcome that a decision saw. */
export interface SeenPath {
  entity_id: string
  edges: string[]
  strength: number
  share: number
}

/** The paths to bad outcomes that a decision saw; none where they were withheld, or altered so that they cannot be read. */
export function pathsOf(graph: string | null): SeenPath[] {
  const [stored] = graph === null ? [] : parseBodies([graph])
  return objectsIn(stored?.paths).map(({ entity_id, edges, strength, share }) => ({
    entity_id: String(entity_id),
    edges: Array.isArray(edges) ? edges.map(String) : [],
    strength: Number(strength),
    share: Number(share),
  }))
}

/** How a case ended; null while it is open. Of a review that cannot be read, its id still says when it was made. */
export function endOfCase(
  { review_id, review_body }: Pick<CaseWithDecision, 'review_id' | 'review_body'>,
  keys: ReadonlyMap<string, ReviewKey>,
): CaseEnd | null {
  if (review_id === null || review_body === null) return null
  return (
    endOf(review_body, keys) ?? {
      review_id,
      by: nameReviewer(undefined, keys.get(review_id)),
      by_id: '',
      at: new Date(timeOfId(review_id)).toISOString(),
      verdict: null,
      reason: '',
      limit: null,
      conditions: [],
    }
  )
}

/** Who decided, when and why, of a stored review; null if it cannot be read. `keys` are those that sent reviews. */
export function endOf(body: string, keys: ReadonlyMap<string, ReviewKey>): CaseEnd | null {
  const [stored] = parseBodies([body])
  if (!isObject(stored?.reviewer) || Number.isNaN(Date.parse(String(stored.created_at)))) return null
  const { id, reviewer, at, verdict, reason, limit, conditions } = describeReview(stored, keys)
  const by_id = String(stored.reviewer.id)
  return {
    review_id: id,
    by: nameReviewer({ id: by_id, name: reviewer }, keys.get(id)),
    by_id,
    at,
    verdict,
    reason,
    limit,
    conditions: conditions.map(({ label }) => label),
  }
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
