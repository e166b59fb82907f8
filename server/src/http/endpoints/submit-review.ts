import { recordSha256 } from '../../store/write-path/record-hash.ts'
import { fail } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { record } from '../record.ts'
import { DecisionPath, Review, type Review as ReviewBody, SubmitReviewRequest } from '../schemas/decision.ts'
import { latestOf } from '../time-of-change.ts'

/** Records a person's review of a decision. The decision itself does not change. */
export const submitReview = defineEndpoint({
  operationId: 'submitReview',
  summary: 'Submit a human review',
  description:
    'A decision never changes; its reviews are recorded beside it. `overrides` says whether the reviewer’s verdict differs from the decision’s.',
  tag: 'Decisions',
  method: 'POST',
  path: '/v1/decisions/{decision_id}/reviews',
  scope: 'reviews:write',
  params: DecisionPath,
  body: SubmitReviewRequest,
  succeeds: { 201: Review },
  fails: ['decision_not_found'],

  async handle(request) {
    const { params, body, caller, store, newId } = request
    const decision = await store.decision({ organizationId: caller.organizationId, id: params.decision_id })
    if (!decision) return fail('decision_not_found')
    const now = latestOf(request.now, decision.created_at)
    const context = { ...request, now }

    const review: ReviewBody = {
      id: newId('rev'),
      object: 'review',
      decision_id: decision.id,
      entity_id: decision.entity_id,
      // A decision of `manual_review` leaves the verdict to the reviewer, so there is none to override.
      overrides: decision.verdict !== 'manual_review' && body.verdict !== decision.verdict,
      ...body,
      created_at: now,
    }
    const { id, decision_id, entity_id, verdict, overrides } = review
    const row = {
      id,
      decision_id,
      entity_id,
      verdict,
      overrides,
      reviewer_id: body.reviewer.id,
      body: JSON.stringify(review),
      created_at: now,
    }
    const record_sha256 = recordSha256<'reviews'>(caller.organizationId, row)
    const change = record(context, {
      rows: { reviews: [row] },
      domainEvents: [
        {
          type: 'decision.reviewed',
          subject: { type: 'review', id },
          trailId: entity_id,
          data: { entity_id, decision_id, review_id: id, verdict, overrides, record_sha256 },
        },
      ],
    })
    return { status: 201, body: review, change }
  },
})
