import type { CompiledPolicy } from '../../core/policy/compiled-policy.ts'
import { NOT_BLANK, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import type { Environment } from '../../core/vocabularies.ts'
import { listOperators } from '../../store/queries/operators.ts'
import { describeEvidence } from '../../underwriting/describe-evidence.ts'
import { type DecisionView, describeView } from '../decision-view/describe-view.ts'
import { defineOperation, type Refusal } from '../define-operation.ts'
import { ASKED, amountProblem, DRY_REQUEST, type DryRequest, requestProblem } from '../playground/dry-request.ts'
import {
  changed,
  type DryFacts,
  type DryPlace,
  dryRun,
  entityNamed,
  factsNow,
  factsOfDecision,
  factsOfPersona,
  policyFor,
} from '../playground/dry-run.ts'
import { recordDecision } from '../playground/record-decision.ts'
import { type Slider, slidersOf } from '../playground/sliders.ts'

/**
 * Decides without recording anything: from the facts of an entity as they are now, or from those that a decision recorded,
 * under one policy or two. The sliders of the first come with the verdict that each of their values would give.
 */
export const decideDry = defineOperation({
  summary: 'Decide as a dry run, under one policy or two, with the verdicts along the sliders',
  access: 'see the console',
  input: Strict(DRY_REQUEST),
  audit: [],
  async handle(context) {
    const { input, store, organizationId, now, environment } = context
    const place: DryPlace = { store, organizationId, now }
    const dry = await dryFacts(place, input)
    if ('problem' in dry) return dry
    const results: DryResult[] = []
    for (const version of input.policy_versions ?? [undefined]) {
      const found = await policyFor(place, version)
      if ('problem' in found) return found
      const startedMs = performance.now()
      const replay = dryRun(found.policy, dry, environment)
      if ('problem' in replay) return replay
      const tookMs = performance.now() - startedMs
      const { entityId, request, decidedAt } = dry
      const view = await describeView(replay, {
        ...{ store, organizationId, entityId, decidedAt, now },
        product: request.product,
      })
      // The tracks belong to the policy that is tried, which is the first.
      const sliders =
        results.length === 0 ? slidersOf(evidenceBefore(found.policy, dry, environment), found.policy, dry) : []
      results.push({ view, sliders, took_ms: Math.round(tookMs * 100) / 100, body: replay.decision })
    }
    const { request, entityId } = dry
    return { entity_id: entityId, request, results }
  },
})

/** Decides and records in the sandbox, by the code of the public API. */
export const decideRecorded = defineOperation({
  summary: 'Decide and record in the sandbox',
  access: 'record decisions',
  input: Strict({
    ...ASKED,
    entity_id: Type.String({ minLength: 1, maxLength: 64 }),
    product: Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
  }),
  audit: ['decision.created'],
  async handle(context) {
    const { input, installation, store, environment, organizationId, operator, requestId } = context
    if (environment !== 'sandbox')
      return { problem: 'Only the sandbox records decisions of the playground.', status: 403 as const }
    const problem = amountProblem(input)
    if (problem) return problem
    const entity = await entityNamed({ store, organizationId }, input.entity_id)
    if (!entity) return { problem: 'There is no such entity in this environment.', status: 404 as const }
    const act = { environment, organizationId, operatorId: operator.id, requestId }
    const decision = await recordDecision(installation, act, { ...input, entity_id: entity.id })
    return 'problem' in decision ? decision : { id: decision.id, decision }
  },
})

/** The policies that a dry run can use, the applicants of the active policy's own tests, and the scenarios that were kept. */
export const showPlayground = defineOperation({
  summary: 'The policies, personas and scenarios that the playground starts from',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ store, installation, organizationId, now }) {
    const [policies, active, scenarios, operators] = await Promise.all([
      store.listPolicies(organizationId),
      policyFor({ store, organizationId, now }, undefined),
      store.scenarios(organizationId),
      listOperators(installation.storage.control, organizationId),
    ])
    const names = new Map(operators.map(({ id, name }) => [id, name]))
    return {
      scenarios: scenarios.map(({ id, name, request, saved_by, saved_at }) => ({
        ...{ id, name, at: saved_at, by: names.get(saved_by) ?? saved_by },
        request: JSON.parse(request) as DryRequest,
      })),
      personas: 'policy' in active ? active.policy.document.tests.map(({ name }) => name) : [],
      policies: policies
        .filter(({ state }) => state !== 'rejected')
        .map(({ version, state, checksum }) => ({ version, state, checksum })),
    }
  },
})

/** What a dry run gives under one policy. */
interface DryResult {
  view: DecisionView
  sliders: Slider[]
  /** How long the evaluation took, without reading the facts. */
  took_ms: number
  /** The fields of the public API. */
  body: Record<string, unknown> | null
}

/** The evidence without what a what-if changed. */
function evidenceBefore(policy: CompiledPolicy, dry: DryFacts, environment: Environment) {
  const before = dryRun(policy, { ...dry, facts: dry.unchanged }, environment)
  return 'problem' in before ? { rule_trace: [], scorecard: [] } : describeEvidence(before)
}

async function dryFacts(place: DryPlace, input: DryRequest): Promise<DryFacts | Refusal> {
  const { entity_id, decision_id, product, requested_amount, currency, changes = {} } = input
  const problem = requestProblem(input)
  if (problem) return problem
  const request = {
    ...(requested_amount !== undefined && { requested_amount }),
    ...(currency !== undefined && { currency }),
  }
  if (decision_id !== undefined) {
    const dry = await factsOfDecision(place, decision_id)
    return 'problem' in dry ? dry : changed(dry, changes)
  }
  if (input.persona !== undefined) {
    const found = await policyFor(place, input.policy_versions?.[0])
    const dry = 'problem' in found ? found : factsOfPersona(found.policy, input.persona, place.now)
    return 'problem' in dry ? dry : changed(dry, changes)
  }
  const dry = await factsNow(place, entity_id!, { product: product!, ...request })
  return 'problem' in dry ? dry : changed(dry, changes)
}
