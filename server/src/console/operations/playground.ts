import { forbidden, invalid } from '../../admin/problem.ts'
import { runPolicyTask } from '../../admin/run-policy-task.ts'
import { findEntity } from '../../admin/show-entity.ts'
import { NOT_BLANK, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { listOperators } from '../../store/control/operators.ts'
import { defineTask } from '../../threads/task.ts'
import { completeView, type DecisionView } from '../decision-view/describe-view.ts'
import { defineOperation } from '../define-operation.ts'
import {
  ASKED,
  DRY_REQUEST,
  type DryRequest,
  requireAmountWithCurrency,
  requireDecidable,
} from '../playground/dry-request.ts'
import {
  changed,
  type DryFacts,
  type DryPlace,
  factsNow,
  factsOfDecision,
  factsOfPersona,
  policyFor,
  readDocument,
  unusable,
} from '../playground/dry-run.ts'
import { recordDecision } from '../playground/record-decision.ts'
import type { Slider } from '../playground/sliders.ts'
import type { tryPolicy } from '../playground/try-policy.ts'

/** A dry run with its sliders takes under 0.1 s with the sandbox policy. */
const TRY = defineTask<typeof tryPolicy>({
  module: new URL('../playground/try-policy.ts', import.meta.url).href,
  name: 'tryPolicy',
  lane: 'quick',
  budgetMs: 2_000,
  purpose: 'to decide with',
})

/**
 * Decides without recording anything: from the facts of an entity as they are now, or from those that a decision recorded,
 * under one policy or two. The sliders of the first come with the verdict that each of their values would give.
 */
const decideDry = defineOperation({
  summary: 'Decide as a dry run, under one policy or two, with the verdicts along the sliders',
  access: 'see the console',
  input: Strict(DRY_REQUEST),
  audit: [],
  async handle(context) {
    const { input, store, organizationId, now, environment, installation, signal } = context
    const place: DryPlace = { store, organizationId, now }
    const dry = await dryFacts(place, input)
    const results: DryResult[] = []
    for (const version of input.policy_versions ?? [undefined]) {
      const policy = await policyFor(place, version)
      // The tracks belong to the policy that is tried, which is the first.
      const trial = { policy, dry, environment, hasSliders: results.length === 0 }
      const { entityId, request, decidedAt } = dry
      const tried = await runPolicyTask(installation.threads, TRY, { input: trial, client: { organizationId, signal } })
      if ('untried' in tried)
        throw tried.untried === 'unusable' ? unusable(policy) : invalid(tried.refusal.code, tried.refusal.message)
      const { evaluation, ...result } = tried
      const source = { store, organizationId, entityId, product: request.product, decidedAt, now }
      results.push({ view: await completeView(evaluation, source), ...result })
    }
    const { request, entityId } = dry
    return { entity_id: entityId, request, results }
  },
})

/** Decides and records in the sandbox, by the code of the public API. */
const decideRecorded = defineOperation({
  summary: 'Decide and record in the sandbox',
  access: recordDecision.permission,
  input: Strict({
    ...ASKED,
    entity_id: Type.String({ minLength: 1, maxLength: 64 }),
    product: Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
  }),
  audit: ['decision.created', 'decision.offer_replaced'],
  async handle(context) {
    const { input, installation, act, store, environment, organizationId, requestId } = context
    if (environment !== 'sandbox')
      throw forbidden('sandbox_only', 'Only the sandbox records decisions of the playground.')
    requireAmountWithCurrency(input)
    const entity = await findEntity(store, organizationId, input.entity_id)
    const request = { ...input, entity_id: entity.id }
    const decision = await recordDecision(installation, act, { request, requestId })
    return { id: decision.id, decision }
  },
})

/** The policies that a dry run can use, the applicants of the active policy's own tests, and the scenarios that were kept. */
const showPlayground = defineOperation({
  summary: 'The policies, personas and scenarios that the playground starts from',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ store, installation, organizationId }) {
    const [policies, active, scenarios, operators] = await Promise.all([
      store.policies.list(organizationId),
      store.policies.active(organizationId),
      store.scenarios.list(organizationId),
      listOperators(installation.storage.control, organizationId),
    ])
    const names = new Map(operators.map(({ id, name }) => [id, name]))
    const document = active && readDocument(active)
    return {
      scenarios: scenarios.map(({ id, name, request, saved_by, saved_at }) => ({
        id,
        name,
        at: saved_at,
        by: names.get(saved_by) ?? saved_by,
        request: JSON.parse(request) as DryRequest,
      })),
      personas: document ? document.tests.map(({ name }) => name) : [],
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

async function dryFacts(place: DryPlace, input: DryRequest): Promise<DryFacts> {
  requireDecidable(input)
  return changed(await unchangedFacts(place, input), input.changes ?? {})
}

async function unchangedFacts(place: DryPlace, input: DryRequest): Promise<DryFacts> {
  const { entity_id, decision_id, persona, product, requested_amount, currency, term_months } = input
  if (decision_id !== undefined) return factsOfDecision(place, decision_id)
  if (persona !== undefined) {
    const policy = await policyFor(place, input.policy_versions?.[0])
    const document = readDocument(policy)
    if (!document) throw unusable(policy)
    return factsOfPersona(document, persona, place.now)
  }
  return factsNow(place, entity_id!, {
    product: product!,
    ...(requested_amount !== undefined && { requested_amount }),
    ...(currency !== undefined && { currency }),
    ...(term_months !== undefined && { term_months }),
  })
}

/** The operations `playground.<verb>`. */
export const playground = {
  decide: decideDry,
  record: decideRecorded,
  show: showPlayground,
}
