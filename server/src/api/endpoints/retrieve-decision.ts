import { fail } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { DecisionPath, UnderwritingDecision } from '../schemas/decision.ts'
import { UnreadableDecision } from '../unreadable-decision.ts'

/** Returns a decision exactly as it was made. */
export const retrieveDecision = defineEndpoint({
  operationId: 'retrieveDecision',
  summary: 'Retrieve the canonical decision',
  tag: 'Decisions',
  method: 'GET',
  path: '/v1/decisions/{decision_id}',
  scope: 'decisions:read',
  params: DecisionPath,
  succeeds: { 200: UnderwritingDecision },
  fails: ['decision_not_found'],

  async handle({ params, caller, store }) {
    const decision = await store.decisions.find({ organizationId: caller.organizationId, id: params.decision_id })
    if (!decision) return fail('decision_not_found')
    const body = await store.decisions.body(decision)
    if (!body) throw new UnreadableDecision(`The decision ${decision.id} was made, but cannot be read any more.`)
    return { status: 200, body: JSON.parse(body) }
  },
})
