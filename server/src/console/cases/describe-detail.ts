import { REQUESTS_PER_ACT_MAX } from '../../admin/decide-case.ts'
import type { DecisionTrace } from '../../core/decide/evaluation.ts'
import type { RequestedAmount } from '../../core/facts/read-fact.ts'
import {
  couldLend,
  limitThresholds,
  type ReviewBounds,
  type TotalThreshold,
  totalThresholds,
} from '../../core/review-bounds.ts'
import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { CaseWithDecision, WaitingDecision } from '../../store/environment/cases.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { parseBodies } from '../../underwriting/describe-evidence.ts'
import { readReviewEvidence } from '../../underwriting/review-evidence.ts'
import { entityName } from '../entities/entity-name.ts'
import { requestedOf } from '../figures/newest-decisions.ts'
import {
  type CaseEnd,
  type CaseNames,
  endOf,
  endOfCase,
  pathsOf,
  reasonsOf,
  type SeenPath,
  type StatedReason,
} from './describe-case.ts'

/** A decision about the entity of a case that was made while the case was open. */
export interface CaseDecision {
  id: string
  verdict: Verdict
  product: string
  requested: RequestedAmount | null
  decided_at: string
  is_waiting: boolean
  /** The newest review of it. */
  review: CaseEnd | null
}

/** A request of a case that a reviewer decides. */
export interface WaitingRequest {
  /** The id of its decision. */
  id: string
  product: string
  /** Null for access, which has no limit. */
  requested: RequestedAmount | null
  /** What the terms of the policy would let a person lend; null if a term is not known. */
  could_lend: RequestedAmount | null
  /** Limits below or above these are asked about or refused; null for access. */
  ask_below: number | null
  ask_above: number | null
  refuse_above: number | null
  decided_at: string
}

/** What the drawer of a case shows besides its row. */
export interface CaseDetail {
  figures: {
    repayment_probability: number | null
    confidence: number | null
    /** What the terms of the policy would let a person lend of the newest request. */
    could_lend: RequestedAmount | null
  }
  reasons: StatedReason[]
  /** The paths to bad outcomes that the decision saw. */
  paths: (SeenPath & { name: string })[]
  /** The requests that wait for a person, oldest first: what one act decides. */
  requests: WaitingRequest[]
  /** Above which sums of their limits, by currency, a reviewer is asked. */
  totals: TotalThreshold[]
  /** Newest first; the first one that waits is what the case is about. */
  decisions: CaseDecision[]
  notes: { id: string; text: string; by: string; at: string }[]
  /** Earlier reviews of decisions about this entity, newest first. */
  prior: CaseEnd[]
}

const PRIOR_LISTED = 10
const MILLION = 1_000_000

/** Reads everything that the drawer of a case shows besides its row. */
export async function describeDetail(
  store: EnvironmentStore,
  row: CaseWithDecision,
  { nameOf, bounds }: Pick<CaseNames, 'nameOf'> & { bounds: ReviewBounds },
): Promise<CaseDetail> {
  const { org_id: organizationId, entity_id: entityId } = row
  const { trace } = readReviewEvidence(row.documents)
  const reasons = reasonsOf(row.documents.body)
  const end = endOfCase(row, new Map())
  const paths = pathsOf(row.documents.graph)
  const [waiting, decisions, notes, prior, names] = await Promise.all([
    end ? [] : store.cases.waitingDecisions(organizationId, row.id, REQUESTS_PER_ACT_MAX),
    store.cases.decisions(row, end?.at ?? null),
    store.cases.notes(organizationId, row.id),
    store.cases.reviewsOfEntity(organizationId, entityId, PRIOR_LISTED),
    store.entities.names(
      organizationId,
      paths.map(({ entity_id }) => entity_id),
    ),
  ])
  const requests = waiting.toReversed().map((decision) => describeRequest(decision, bounds))
  const bodies = decisions.flatMap(({ review_body }) => review_body ?? [])
  const reviewed = new Set(bodies.map(idOf))
  const keys = await store.reviews.keys(organizationId, [...reviewed, ...prior.map(idOf)])
  return {
    figures: {
      repayment_probability: typeof trace?.score.bad_ppm === 'number' ? 1 - trace.score.bad_ppm / MILLION : null,
      confidence: trace?.confidence ? trace.confidence.ppm / MILLION : null,
      could_lend: lendableOf(trace),
    },
    reasons,
    paths: paths.map((path) => {
      const known = names.get(path.entity_id)
      return { ...path, name: entityName(known, path.entity_id) }
    }),
    requests,
    totals: totalThresholds(
      requests.map(({ requested, could_lend }) => ({
        currency: requested?.currency ?? null,
        couldLend: could_lend?.amount ?? null,
      })),
      bounds,
    ),
    decisions: decisions.map((decision) => ({
      id: decision.id,
      verdict: VERDICTS.find((verdict) => verdict === decision.verdict)!,
      product: decision.product,
      requested: requestedOf(decision),
      decided_at: decision.created_at,
      is_waiting: decision.is_waiting,
      review: decision.review_body === null ? null : endOf(decision.review_body, keys),
    })),
    notes: notes.map(({ id, text, author_id, created_at }) => ({ id, text, by: nameOf(author_id), at: created_at })),
    prior: prior.flatMap((body) => endOf(body, keys) ?? []).filter(({ review_id }) => !reviewed.has(review_id)),
  }
}

/** The id of a stored review. */
function idOf(body: string): string {
  return String(parseBodies([body])[0]?.id)
}

function describeRequest(decision: WaitingDecision, bounds: ReviewBounds): WaitingRequest {
  const requested = requestedOf(decision)
  const lendable = lendableOf(readReviewEvidence(decision).trace)
  const question = requested && { asked: requested.amount, couldLend: lendable?.amount ?? null }
  return {
    id: decision.id,
    product: decision.product,
    requested,
    could_lend: lendable,
    ...(question ? limitThresholds(question, bounds) : { ask_below: null, ask_above: null, refuse_above: null }),
    decided_at: decision.created_at,
  }
}

function lendableOf(trace: DecisionTrace | null): RequestedAmount | null {
  const limit = trace?.limit ?? null
  const amount = couldLend(limit)
  return limit === null || amount === null ? null : { amount, currency: limit.currency }
}
