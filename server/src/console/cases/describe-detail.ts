import { REQUESTS_PER_ACT_MAX, signedVerdictOf } from '../../admin/decide-case.ts'
import { openCreditsOf, type ShownCredits } from '../../admin/show-entity.ts'
import type { RequestedAmount } from '../../core/facts/read-fact.ts'
import {
  couldLend,
  limitThresholds,
  type ReviewBounds,
  type TotalThreshold,
  totalThresholds,
} from '../../core/review-bounds.ts'
import { type REVIEW_VERDICTS, VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { StoredDocuments } from '../../store/documents/documents.ts'
import type { CaseWithDecision, WaitingDecision } from '../../store/environment/cases.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { RowOf } from '../../store/schema/tables.ts'
import { parseBodies } from '../../underwriting/describe-evidence.ts'
import { readReviewEvidence } from '../../underwriting/review-evidence.ts'
import { readStandingCredit, type StandingCredit, takenSince } from '../../underwriting/standing-credit.ts'
import { type DescribedOffer, describeOffers } from '../entities/describe-offers.ts'
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
  /** What the terms of the policy would still let a person lend; null if a term is not known. */
  could_lend: RequestedAmount | null
  /** What was offered or paid out since the decision, to all that the entity is merged with: it is not lent again. */
  taken_since: number
  /** Limits below or above these are asked about or refused; null for access. */
  ask_below: number | null
  ask_above: number | null
  refuse_above: number | null
  decided_at: string
}

/** What counts beside the requests of a case, because it is lent to the same person. */
export interface CaseCredit {
  open_credits: ShownCredits[]
  open_offers: DescribedOffer[]
  /** Requests about merged entities that wait in cases of their own. */
  waiting: { decision_id: string; entity_id: string; name: string; requested: RequestedAmount }[]
}

/** What a first signature says: what is recorded once a second person has signed. */
export interface SignedCase {
  at: string
  reason: string
  verdicts: {
    decision_id: string
    verdict: (typeof REVIEW_VERDICTS)[number]
    conditions: readonly string[]
    limit: RequestedAmount | null
  }[]
}

/** What the drawer of a case shows besides its row. */
export interface CaseDetail {
  figures: {
    repayment_probability: number | null
    confidence: number | null
    /** What the terms of the policy would still let a person lend of the newest request. */
    could_lend: RequestedAmount | null
  }
  reasons: StatedReason[]
  /** The paths to bad outcomes that the decision saw. */
  paths: (SeenPath & { name: string })[]
  /** What was signed first, while a second person has to sign it. */
  signed: SignedCase | null
  /** The requests that wait for a person, oldest first: what one act decides. */
  requests: WaitingRequest[]
  /** Above which sums of their limits, by currency, a reviewer is asked. */
  totals: TotalThreshold[]
  /** What the entity, and those that it is merged with, owe and are offered; null once the case is decided. */
  credit: CaseCredit | null
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
  { nameOf, bounds, now }: Pick<CaseNames, 'nameOf'> & { bounds: ReviewBounds; now: string },
): Promise<CaseDetail> {
  const { org_id: organizationId, entity_id: entityId } = row
  const reasons = reasonsOf(row.documents.body)
  const end = endOfCase(row, new Map())
  const paths = pathsOf(row.documents.graph)
  const credit = end ? undefined : await readStandingCredit(store, { organizationId, entityId, now })
  const { trace } = readReviewEvidence(row.documents)
  const [waiting, decisions, notes, prior, names, waitingOfOthers, signature] = await Promise.all([
    end ? [] : store.cases.waitingDecisions(organizationId, row.id, REQUESTS_PER_ACT_MAX),
    store.cases.decisions(row, end?.at ?? null),
    store.cases.notes(organizationId, row.id),
    store.cases.reviewsOfEntity(organizationId, entityId, PRIOR_LISTED),
    store.entities.names(
      organizationId,
      paths.map(({ entity_id }) => entity_id),
    ),
    credit ? readWaitingOfOthers(store, row, credit) : [],
    end || row.signature_id === null ? undefined : store.approvals.signature(organizationId, row.signature_id),
  ])
  const requests = waiting.toReversed().map((decision) => describeRequest(decision, { bounds, credit }))
  const bodies = decisions.flatMap(({ review_body }) => review_body ?? [])
  const reviewed = new Set(bodies.map(idOf))
  const keys = await store.reviews.keys(organizationId, [...reviewed, ...prior.map(idOf)])
  return {
    figures: {
      repayment_probability: typeof trace?.score.bad_ppm === 'number' ? 1 - trace.score.bad_ppm / MILLION : null,
      confidence: trace?.confidence ? trace.confidence.ppm / MILLION : null,
      could_lend: lendableOf(row.documents, credit).lendable,
    },
    reasons,
    paths: paths.map((path) => {
      const known = names.get(path.entity_id)
      return { ...path, name: entityName(known, path.entity_id) }
    }),
    signed: signature ? describeSigned(signature, requests) : null,
    requests,
    totals: totalThresholds(
      requests.map(({ requested, could_lend }) => ({
        currency: requested?.currency ?? null,
        couldLend: could_lend?.amount ?? null,
      })),
      bounds,
    ),
    credit: credit
      ? {
          open_credits: openCreditsOf(credit),
          open_offers: describeOffers(credit.offers, now),
          waiting: waitingOfOthers,
        }
      : null,
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

function describeSigned(
  signature: RowOf<'case_signatures'>,
  requests: readonly Pick<WaitingRequest, 'id' | 'requested'>[],
): SignedCase {
  const { verdicts, reason } = signedVerdictOf(signature)
  return {
    at: signature.created_at,
    reason,
    verdicts: verdicts.map(({ decisionId, verdict, conditions = [], recommendedLimit: amount }) => {
      const currency = requests.find(({ id }) => id === decisionId)?.requested?.currency
      const limit = amount === undefined || currency === undefined ? null : { amount, currency }
      return { decision_id: decisionId, verdict, conditions, limit }
    }),
  }
}

/** The id of a stored review. */
function idOf(body: string): string {
  return String(parseBodies([body])[0]?.id)
}

/** The requests for credit of merged entities that wait in their own cases. */
async function readWaitingOfOthers(
  store: EnvironmentStore,
  { org_id: organizationId, entity_id: entityId }: CaseWithDecision,
  { members }: StandingCredit,
): Promise<CaseCredit['waiting']> {
  const others = members.filter(({ id }) => id !== entityId)
  const found = await Promise.all(
    others.map(async (other) => {
      const caseId = await store.cases.openOf(organizationId, other.id)
      if (caseId === undefined) return []
      const waiting = await store.cases.waitingDecisions(organizationId, caseId, REQUESTS_PER_ACT_MAX)
      const name = entityName({ name: other.display_name, external_id: other.external_id }, other.id)
      return waiting.flatMap((decision) => {
        const requested = requestedOf(decision)
        return requested ? [{ decision_id: decision.id, entity_id: other.id, name, requested }] : []
      })
    }),
  )
  return found.flat()
}

function describeRequest(
  decision: WaitingDecision,
  { bounds, credit }: { bounds: ReviewBounds; credit: StandingCredit | undefined },
): WaitingRequest {
  const requested = requestedOf(decision)
  const { lendable, taken } = lendableOf(decision, credit)
  const question = requested && { asked: requested.amount, couldLend: lendable?.amount ?? null }
  return {
    id: decision.id,
    product: decision.product,
    requested,
    could_lend: lendable,
    taken_since: taken,
    ...(question ? limitThresholds(question, bounds) : { ask_below: null, ask_above: null, refuse_above: null }),
    decided_at: decision.created_at,
  }
}

/** What the policy could lend of a request, after what was offered or paid out since. */
function lendableOf(
  documents: StoredDocuments,
  credit: StandingCredit | undefined,
): { lendable: RequestedAmount | null; taken: number } {
  const { facts, trace } = readReviewEvidence(documents)
  const limit = trace?.limit ?? null
  const taken = credit && facts && limit ? takenSince(credit, facts, limit.currency) : 0
  const amount = couldLend(limit, taken)
  return { taken, lendable: limit === null || amount === null ? null : { amount, currency: limit.currency } }
}
