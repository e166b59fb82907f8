import { canonicalJson, orderedJson } from '../core/canonical-json.ts'
import { decide } from '../core/decide/decide.ts'
import { describeDecision, type UnderwritingDecision } from '../core/decide/describe-decision.ts'
import { type Evaluation, scoreIn } from '../core/decide/evaluation.ts'
import { evidenceHashes } from '../core/decide/evidence-hashes.ts'
import { graphEvidence } from '../core/decide/graph-evidence.ts'
import { type RequestRefusal, refusalOf } from '../core/decide/request-refusal.ts'
import type { Facts } from '../core/facts/facts.ts'
import { offerOf } from '../core/facts/open-offers.ts'
import { latestOf } from '../core/latest-time.ts'
import type { CompiledPolicy } from '../core/policy/compile/compiled-policy.ts'
import type { Environment } from '../core/vocabularies.ts'
import type { Documents } from '../store/documents/segment.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { type UsageCounter, verdictCounter } from '../store/environment/usage.ts'
import type { Change } from '../store/write-path/change.ts'
import type { DomainEvent, OfferReplaced } from '../store/write-path/record.ts'
import type { ActivePolicies } from './active-policies.ts'
import { type FoundOffers, findOffers, offersAfterDecision } from './entity-offers.ts'
import { type DecisionRequest, type EntityReading, factsOf, madeOn } from './facts-of.ts'
import { readEntity } from './read-entity.ts'

/** Whom to decide about, and what was asked for. */
export interface EntityRequest extends DecisionRequest {
  entity_id: string
  /** The caller's own name for the request; it has no part in the verdict. */
  reference?: string
}

/** What a decision is made with. */
export interface DecidingTools {
  store: EnvironmentStore
  policies: ActivePolicies
  environment: Environment
  requestId: string
  newId: (prefix: 'dec') => string
  hashReference: (named: { organizationId: string; reference: string }) => string
  readClock: () => string
}

/** A decision that is not written yet, with everything to write beside its audit entry. */
export interface UnwrittenDecision {
  decision: UnderwritingDecision
  now: string
  change: Pick<Change, 'decisions' | 'changedOffers'>
  domainEvents: DomainEvent[]
  replacedOffers: OfferReplaced[]
  counts: [counter: UsageCounter, count: number][]
}

/** Why nothing was decided. */
export type NotDecided =
  | { failure: 'entity_not_found' | 'no_active_policy' | 'too_many_open_offers' }
  | { failure: RequestRefusal['code']; message: string }

/**
 * Decides a request under the organization's active policy, for the public API and for the console: both write exactly the
 * same, only the actor of the audit entry differs.
 */
export async function decideRequest(
  tools: DecidingTools,
  organizationId: string,
  request: EntityRequest,
): Promise<UnwrittenDecision | NotDecided> {
  const { store, policies, environment, requestId, newId } = tools
  const reading = await readEntity(store, { organizationId, id: request.entity_id })
  if (!reading) return { failure: 'entity_not_found' }
  const policy = await policies.of(organizationId)
  if (!policy) return { failure: 'no_active_policy' }
  const refusal = refusalOf(policy, request)
  if (refusal) return { failure: refusal.code, message: refusal.message }

  const { state, members } = reading
  // The clock is read after the entity, and is not trusted alone: another node may have dated the facts by a clock that is
  // ahead, and no decision is dated before a fact it is based on.
  const now = latestOf(tools.readClock(), ...members.flatMap(timesOfFacts))
  // A request for access names the journey of an applicant perhaps, but takes the place of no credit.
  const offers = findOffers(members, { reference: request.currency === undefined ? undefined : request.reference, now })
  if (request.currency !== undefined && offers.isFull) return { failure: 'too_many_open_offers' }
  const facts = factsOf({ ...reading, offers: offers.counted }, request, { now })
  const evaluation = decide(policy, facts)
  const { reference } = request
  const id = newId('dec')
  const decision = describeDecision({ id, environment, evaluation, policy, requestId, reference, decidedAt: now })
  const evidence = {
    facts: orderedJson(facts),
    trace: orderedJson(evaluation.trace),
    graph: canonicalJson(isWithheld(facts, 'graph.negative_exposure') ? {} : graphEvidence(state.graph)),
  }
  const referenceHash = reference && tools.hashReference({ organizationId, reference })
  return {
    decision,
    now,
    ...writesOf(decision, request, { evidence, evaluation, policy, reading, offers, now, referenceHash }),
  }
}

/** When the newest facts of an entity were recorded: its own, what the trust graph says of it, and with whom it is merged. */
function timesOfFacts({ updated_at, exposed_at, merged_at }: EntityRow): (string | null)[] {
  return [updated_at, exposed_at, merged_at]
}

/** Whether a fact was not available to the decision, as without consent; the data behind it is not stored either. */
export function isWithheld({ features }: Facts, name: string): boolean {
  const fact = features[name]
  return fact === undefined || 'missing' in fact
}

/** What is written of a decision besides itself. */
interface Written {
  evidence: Omit<Documents, 'body'>
  evaluation: Evaluation
  policy: CompiledPolicy
  reading: EntityReading
  offers: FoundOffers
  now: string
  referenceHash: string | undefined
}

/** Everything that one transaction writes of a decision. */
function writesOf(
  decision: UnderwritingDecision,
  { entity_id, ...request }: EntityRequest,
  { evidence, evaluation, policy, reading, offers, now, referenceHash }: Written,
): Omit<UnwrittenDecision, 'decision' | 'now'> {
  const { id, verdict, risk_tier, policy_version, policy_checksum } = decision
  const { product } = request
  const body = orderedJson(decision)
  const data = {
    entity_id,
    decision_id: id,
    product,
    verdict,
    policy_version,
    policy_checksum,
    ...evidenceHashes({ decision: body, ...evidence }),
    ...(referenceHash !== undefined && { reference_hash: referenceHash }),
  }
  const score = scoreIn(evaluation.trace)
  const row = {
    id,
    entity_id,
    entity_version: reading.entity.version,
    product,
    verdict,
    risk_tier,
    policy_version,
    requested_amount: request.requested_amount ?? null,
    currency: request.currency ?? null,
    term_months: request.term_months ?? null,
    recommended_limit: decision.recommended_limit ?? null,
    score: score?.total ?? null,
    score_cutoff: score?.cutoff ?? null,
    reason_codes: decision.reason_codes.map(({ code }) => code).join(' '),
    reference: request.reference ?? null,
    created_at: now,
  }
  const offer = offerOf(row, undefined, { expireDays: policy.document.offers?.expire_days, outcomes: [] })
  const after = offersAfterDecision(reading.members, offers, { entityId: entity_id, decisionId: id, offer })
  const { changedOffers, replacedOffers } = after
  return {
    change: {
      decisions: [{ ...row, documents: { body, ...evidence }, madeOn: madeOn(reading.members) }],
      changedOffers,
    },
    replacedOffers,
    domainEvents: [{ type: 'decision.created', subject: { type: 'decision', id }, trailId: entity_id, data }],
    counts: [
      ['decisions', 1],
      [verdictCounter(verdict, now), 1],
    ],
  }
}
