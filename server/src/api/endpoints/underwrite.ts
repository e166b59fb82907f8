import type { RequestRefusal } from '../../core/decide/request-refusal.ts'
import type { Violation } from '../../http/violation.ts'
import type { Change } from '../../store/write-path/change.ts'
import { decideRequest, type UnwrittenDecision } from '../../underwriting/decide-request.ts'
import { fail, failValidation } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { record } from '../record.ts'
import { UnderwriteRequest, UnderwritingDecision } from '../schemas/decision.ts'

/** Decides one request under the organization's active policy and records why. */
export const underwrite = defineEndpoint({
  operationId: 'underwrite',
  summary: 'Request an underwriting decision',
  description:
    'Decides from the facts recorded about the entity so far, under the active policy. The decision never changes; its reviews and outcomes are recorded beside it. ' +
    'A retry with the same key and body gets this decision again, however late: as 201 for 24 hours, then as 200. ' +
    'In production, two operators have to approve live underwriting first.',
  tag: 'Decisions',
  method: 'POST',
  path: '/v1/underwrite',
  scope: 'decisions:write',
  idempotency: 'required',
  // Each approval of credit counts for the next, so requests at the same time would be decided again.
  serializedBy: ({ body }) => (body.currency === undefined ? [] : [body.entity_id]),
  body: UnderwriteRequest,
  succeeds: { 200: UnderwritingDecision, 201: UnderwritingDecision },
  fails: [
    'entity_not_found',
    'no_active_policy',
    'live_underwriting_not_enabled',
    'unknown_product',
    'amount_required',
    'amount_not_allowed',
    'term_not_allowed',
    'too_many_open_offers',
    'validation_failed',
    'decision_not_found',
  ],

  async handle(context) {
    const { body, caller } = context
    const { organizationId } = caller
    const violations = checkAmount(body)
    if (violations.length > 0) return failValidation(violations)
    if (!(await context.isLive(organizationId))) return fail('live_underwriting_not_enabled')

    const decided = await decideRequest(context, organizationId, body)
    if ('failure' in decided) {
      if ('message' in decided) {
        const { failure, message } = decided
        return fail(failure, { param: FIELDS[failure], message })
      }
      if (decided.failure === 'entity_not_found') return fail('entity_not_found', { param: '/entity_id' })
      return fail(decided.failure)
    }
    const { decision } = decided
    return { status: 201, body: decision, decisionId: decision.id, change: recordDecision(context, decided) }
  },
})

/** The field of the body that a policy refuses. */
const FIELDS = {
  unknown_product: '/product',
  amount_required: '/requested_amount',
  amount_not_allowed: '/requested_amount',
  term_not_allowed: '/term_months',
} as const satisfies Record<RequestRefusal['code'], string>

/** The change of a decision: one transaction writes the decision, its evidence, its audit entry and its event. */
function recordDecision(context: RequestContext, decided: UnwrittenDecision): Change {
  const { change, domainEvents, replacedOffers, counts, now } = decided
  return record({ ...context, now }, { ...change, domainEvents, replacedOffers, counts })
}

function checkAmount({ requested_amount, currency }: { requested_amount?: number; currency?: string }): Violation[] {
  if (requested_amount !== undefined && currency === undefined)
    return [{ param: '/currency', message: 'currency is required with requested_amount.' }]
  if (requested_amount === undefined && currency !== undefined)
    return [{ param: '/requested_amount', message: 'requested_amount is required with currency.' }]
  return []
}
