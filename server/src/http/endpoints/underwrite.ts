import type { Static } from 'typebox'
import { canonicalJson, orderedJson } from '../../core/canonical-json.ts'
import { decide } from '../../core/decide/decide.ts'
import { type UnderwritingDecision as Decision, describeDecision } from '../../core/decide/describe-decision.ts'
import { evidenceHashes } from '../../core/decide/evidence-hashes.ts'
import type { Facts } from '../../core/facts/facts.ts'
import type { EntityRow } from '../../store/queries/entities.ts'
import type { RowOf } from '../../store/schema/tables.ts'
import type { Change } from '../../store/write-path/change.ts'
import { factsOf, seenMark, stateOf } from '../../underwriting/facts-of.ts'
import { fail, failValidation, type Violation } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { record } from '../record.ts'
import { UnderwriteRequest, UnderwritingDecision } from '../schemas/decision.ts'
import { latestOf } from '../time-of-change.ts'

/** Decides one request under the organization's active policy and records why. */
export const underwrite = defineEndpoint({
  operationId: 'underwrite',
  summary: 'Request an underwriting decision',
  description:
    'Decides from the facts recorded about the entity so far, under the active policy. The decision never changes; its reviews and outcomes are recorded beside it. ' +
    'In production, two operators have to approve live underwriting first.',
  tag: 'Decisions',
  method: 'POST',
  path: '/v1/underwrite',
  scope: 'decisions:write',
  idempotency: 'required',
  body: UnderwriteRequest,
  succeeds: { 201: UnderwritingDecision },
  fails: ['entity_not_found', 'no_active_policy', 'live_underwriting_not_enabled', 'validation_failed'],

  async handle(context) {
    const { body, caller, store, policies, newId, requestId, environment } = context
    const { organizationId } = caller
    const violations = checkAmount(body)
    if (violations.length > 0) return failValidation(violations)
    if (!(await context.isLive(organizationId))) return fail('live_underwriting_not_enabled')

    const entity = await store.entity({ organizationId, id: body.entity_id })
    if (!entity) return fail('entity_not_found', { param: '/entity_id' })
    const policy = await policies.of(organizationId)
    if (!policy) return fail('no_active_policy')

    // The clock is read after the entity, and is not trusted alone: another node may have dated the facts by a clock that
    // is ahead, and no decision is dated before a fact it is based on.
    const now = latestOf(context.readClock(), entity.updated_at, entity.exposed_at)
    const state = stateOf(entity)
    const facts = factsOf(entity, body, { now, state })
    const evaluation = decide(policy, facts)
    const decision = describeDecision({ id: newId('dec'), environment, evaluation, policy, requestId, decidedAt: now })
    const evidence = {
      facts: orderedJson(facts),
      trace: orderedJson(evaluation.trace),
      graph: canonicalJson(isWithheld(facts, 'graph.negative_exposure') ? {} : state.graph),
    }
    return {
      status: 201,
      body: decision,
      change: recordDecision({ ...context, now }, decision, { evidence, entity }),
    }
  },
})

/** Whether a fact was not available to the decision, as without consent; the data behind it is not stored either. */
function isWithheld({ features }: Facts, name: string): boolean {
  const fact = features[name]
  return fact === undefined || 'missing' in fact
}

type Evidence = Pick<RowOf<'decision_evidence'>, 'facts' | 'trace' | 'graph'>

/** The change of a decision: one transaction writes the decision, its evidence, its audit entry and its event. */
function recordDecision(
  context: RequestContext<unknown, unknown, Static<typeof UnderwriteRequest>>,
  decision: Decision,
  { evidence, entity }: { evidence: Evidence; entity: EntityRow },
): Change {
  const { body, now } = context
  const { entity_id, ...request } = body
  const { id, verdict, risk_tier, policy_version, policy_checksum } = decision
  const decisionText = orderedJson(decision)
  const data = {
    entity_id,
    decision_id: id,
    product: body.product,
    verdict,
    policy_version,
    policy_checksum,
    ...evidenceHashes({ decision: decisionText, ...evidence }),
  }
  const change = record(context, {
    latestDecisions: [
      {
        entity_id,
        decision_id: id,
        entity_version: entity.version,
        request: JSON.stringify(request),
        verdict,
        announced_verdict: verdict,
      },
    ],
    // A fact committed since the read queued no re-evaluation of this decision; the worker checks for such facts.
    consequences: [{ kind: 'reevaluation', entity_id, mark: seenMark(id, entity) }],
    domainEvents: [{ type: 'decision.created', subject: { type: 'decision', id }, trailId: entity_id, data }],
    counts: [
      ['decisions', 1],
      [`verdict.${verdict}`, 1],
    ],
  })
  const row = {
    id,
    entity_id,
    product: body.product,
    verdict,
    risk_tier,
    policy_version,
    policy_checksum,
    body: decisionText,
    created_at: now,
  }
  const audit_entry_id = change.auditEntries![0]!.id
  return {
    ...change,
    rows: {
      ...change.rows,
      decisions: [row],
      decision_evidence: [{ decision_id: id, ...evidence, audit_entry_id }],
    },
  }
}

function checkAmount({ requested_amount, currency }: { requested_amount?: number; currency?: string }): Violation[] {
  if (requested_amount !== undefined && currency === undefined)
    return [{ param: '/currency', message: 'currency is required with requested_amount.' }]
  if (requested_amount === undefined && currency !== undefined)
    return [{ param: '/requested_amount', message: 'requested_amount is required with currency.' }]
  return []
}
