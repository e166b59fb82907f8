import { decide } from '../core/decide/decide.ts'
import { refusalOf } from '../core/decide/request-refusal.ts'
import { withoutCreditOf } from '../core/facts/history-state.ts'
import { outcomeFact } from '../core/facts/recorded-outcome.ts'
import type { Verdict } from '../core/vocabularies.ts'
import type { NewId } from '../ids/new-id.ts'
import type { LatestDecision } from '../store/environment/decisions.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { domainEventRows } from '../store/write-path/record.ts'
import type { ActivePolicies } from '../underwriting/active-policies.ts'
import { type DecisionRequest, type EntityReading, factsOf } from '../underwriting/facts-of.ts'
import { readEntity } from '../underwriting/read-entity.ts'

const ACTOR = { type: 'system', id: 'reevaluation' } as const

/** The store, the policies and the clock that a re-evaluation needs. */
export interface ReevaluationParts {
  store: EnvironmentStore
  policies: ActivePolicies
  newId: NewId
  now: string
  /** Waits for the organization's turn to use the event loop. */
  turn(organizationId: string): Promise<void>
}

/**
 * Decides the latest request about an entity, or about those that it is merged with, again on the current facts. An earlier one
 * of another member is no more made again than an earlier one of the same entity: what was paid out since would be an earlier
 * credit of it. Returns true when the cause is done.
 */
export async function reevaluateDecision(parts: ReevaluationParts, cause: RowOf<'consequences'>): Promise<boolean> {
  const { org_id: organizationId, entity_id: entityId } = cause
  const reading = await readEntity(parts.store, { organizationId, id: entityId })
  if (!reading) return true
  const latest = await latestOf(parts.store, organizationId, reading)
  const entity = reading.members.find(({ id }) => id === latest?.entity_id)
  return !latest || !entity || reevaluateLatest(parts, { organizationId, latest, reading: { ...reading, entity } })
}

/** The decision about any of the members that was recorded last. */
async function latestOf(
  store: EnvironmentStore,
  organizationId: string,
  { members }: EntityReading,
): Promise<LatestDecision | undefined> {
  const latest = await Promise.all(
    members.map(({ id: entityId }) => store.decisions.latest({ organizationId, entityId })),
  )
  return latest
    .filter((decision) => decision !== undefined)
    .reduce<LatestDecision | undefined>((one, other) => (one && isAfter(one, other) ? one : other), undefined)
}

function isAfter(one: LatestDecision, other: LatestDecision): boolean {
  return one.flush === other.flush ? one.id > other.id : one.flush > other.flush
}

/**
 * Announces the verdict of an entity's latest request if it differs from the last one announced: once for each change of the
 * verdict, not once for each new fact. What the decision itself offers, or what was paid out on it, is no earlier credit.
 */
async function reevaluateLatest(
  { store, policies, newId, now, turn }: ReevaluationParts,
  { organizationId, latest, reading }: { organizationId: string; latest: LatestDecision; reading: EntityReading },
): Promise<boolean> {
  const entityId = reading.entity.id
  const policy = await policies.of(organizationId)
  if (!policy) return true

  const request = requestOf(latest)
  // The policy was activated after the decision, and no longer decides such a request.
  if (refusalOf(policy, request)) return true
  // INVARIANT: read after the entity, so that no outcome is in its state that is not among the reports.
  const reports = (await store.outcomes.ofDecision(organizationId, latest.id)).map((text) =>
    outcomeFact(JSON.parse(text)),
  )
  // One query answers a hundred re-evaluations at once, and each may take milliseconds.
  await turn(organizationId)
  const state = { ...reading.state, history: withoutCreditOf(reading.state.history, reports) }
  const offers = reading.offers.filter(({ decisionId }) => decisionId !== latest.id)
  const { verdict } = decide(policy, factsOf({ ...reading, offers }, request, { now, state, madeAs: latest.id }))
  if (verdict === latest.announced_verdict) return true
  // An outcome that was recorded between the two reads has queued the cause anew.
  const again = await readEntity(store, { organizationId, id: entityId })
  if (!again || versionsOf(again) !== versionsOf(reading)) return false

  const context = { organizationId, actor: ACTOR, now, requestId: null, newId }
  const auditEntries = domainEventRows(context, [
    {
      type: 'decision.reevaluation_due',
      trailId: entityId,
      subject: { type: 'decision', id: latest.id },
      data: {
        entity_id: entityId,
        decision_id: latest.id,
        decided_verdict: latest.verdict as Verdict,
        previous_verdict: latest.announced_verdict as Verdict,
        current_verdict: verdict,
        policy_version: policy.document.version,
        policy_checksum: policy.checksum,
      },
    },
  ])
  const { lost } = await store.commit({
    organizationId,
    turnedVerdicts: [{ entity_id: entityId, decision_id: latest.id, verdict, previous: latest.announced_verdict }],
    auditEntries,
  })
  // Lost to a concurrent announcement or decision: the cause stays queued, and the next pass evaluates it again.
  return lost === undefined
}

function versionsOf({ members }: EntityReading): string {
  return members.map(({ id, version }) => `${id}:${version}`).join(' ')
}

function requestOf({ product, requested_amount, currency, term_months }: LatestDecision): DecisionRequest {
  return {
    product,
    ...(requested_amount !== null && { requested_amount }),
    ...(currency !== null && { currency }),
    ...(term_months !== null && { term_months }),
  }
}
