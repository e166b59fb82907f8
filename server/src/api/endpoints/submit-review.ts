import { type ApprovalLimit, type Approver, beyondLimits } from '../../core/approval-limits.ts'
import { claimsOperatorId } from '../../core/operator-id-claim.ts'
import type { Violation } from '../../http/violation.ts'
import type { RowOf } from '../../store/schema/tables.ts'
import { offersAfterReviews } from '../../underwriting/entity-offers.ts'
import { membersOf } from '../../underwriting/read-entity.ts'
import { type RecordedReview, reviewDecision } from '../../underwriting/review-decision.ts'
import { fail, failErased, failValidation } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { record } from '../record.ts'
import { DecisionPath, Review, SubmitReviewRequest } from '../schemas/decision.ts'

/** Records a person's review of a decision. The decision itself does not change. */
export const submitReview = defineEndpoint({
  operationId: 'submitReview',
  summary: 'Submit a human review',
  description:
    'A decision never changes; its reviews are recorded beside it. `overrides` says whether the reviewer’s verdict differs from the decision’s. ' +
    'A review must not contradict itself: `approve_with_conditions` needs conditions and no other verdict has any; only an approval of credit has a `recommended_limit`, in the currency of the decision. ' +
    'An API key approves up to its approval limit, which an owner sets in the console; in production it is nothing until then. ' +
    'Name the reviewer by your own id: ids of operators of the console are refused, because operators review in the console.',
  tag: 'Decisions',
  method: 'POST',
  path: '/v1/decisions/{decision_id}/reviews',
  scope: 'reviews:write',
  params: DecisionPath,
  body: SubmitReviewRequest,
  succeeds: { 201: Review },
  fails: ['approval_limit_exceeded', 'decision_not_found', 'too_many_open_offers', 'validation_failed'],

  async handle(request) {
    const { params, body, caller, store, environment } = request
    const { organizationId } = caller
    const decision = await store.decisions.find({ organizationId, id: params.decision_id })
    if (!decision) return fail('decision_not_found')
    const entity = await store.entities.find({ organizationId, id: decision.entity_id })
    if (!entity) return failErased(decision.id)
    const members = await membersOf(store, organizationId, entity)
    const claims = operatorIdClaims(body.reviewer)
    if (claims.length > 0) return failValidation(claims)
    const reviewed = reviewDecision(request, decision, body)
    if ('violations' in reviewed) return failValidation(reviewed.violations)
    const { review, row, domainEvent } = reviewed
    const isLive = environment === 'production'
    const approver = { type: 'api_key', id: caller.keyId, isLive } as const
    const [beyond] = beyondBy(await store.approvals.limits(organizationId), approver, { decision, review })
    if (beyond) {
      const { amount, limit, currency } = beyond
      const message = `This API key may approve up to ${limit} ${currency}, and this is ${amount}. Decide it in the review queue of the console, or ask an owner for a higher approval limit of the key.`
      return fail('approval_limit_exceeded', { message })
    }
    const context = { ...request, now: review.created_at }
    const tools = { store, organizationId: caller.organizationId, now: review.created_at }
    const offers = await offersAfterReviews(tools, members, [{ decision, review }])
    if (offers === 'too_many') return fail('too_many_open_offers')
    const change = record(context, { rows: { reviews: [row] }, ...offers, domainEvents: [domainEvent] })
    return { status: 201, body: review, change }
  },
})

/** What a review approves above the limit of its API key; without a limit of its own it approves what was asked. */
function beyondBy(
  limits: readonly ApprovalLimit[],
  approver: Approver,
  {
    decision: { product, currency, requested_amount },
    review,
  }: { decision: RowOf<'decisions'>; review: Pick<RecordedReview, 'verdict' | 'recommended_limit'> },
) {
  const amount = review.recommended_limit ?? requested_amount
  if (review.verdict === 'decline' || currency === null || amount === null) return []
  return beyondLimits(limits, approver, [{ product, currency, amount }])
}

/** A key speaks for the people of its own program only. An operator signs in and reviews in the console. */
function operatorIdClaims(reviewer: { id: string; name?: string }): Violation[] {
  return (['id', 'name'] as const)
    .filter((field) => claimsOperatorId(reviewer[field] ?? ''))
    .map((field) => ({
      param: `/reviewer/${field}`,
      message: `reviewer.${field} must not be the id of an operator: ids with opr_ or acc_ belong to people who sign in to the console and review there. Send your own id of the reviewer.`,
    }))
}
