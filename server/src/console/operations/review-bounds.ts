import { changeReviewBounds } from '../../admin/change-review-bounds.ts'
import { REVIEW_BOUNDS_MAX } from '../../core/review-bounds.ts'
import { Strict, Text } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { defineOperation } from '../define-operation.ts'

/** Shows how far the limits of reviewers may go. */
const showReviewBounds = defineOperation({
  summary: 'Show how far the limits of reviewers may go from what was asked',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ installation, organizationId }) {
    return { bounds: await installation.stores.production.reviews.bounds(organizationId), most: REVIEW_BOUNDS_MAX }
  },
})

/** Changes how far the limits of reviewers may go, in both environments. */
const setReviewBounds = defineOperation({
  summary: 'Change how far the limits of reviewers may go from what was asked',
  access: changeReviewBounds.permission,
  input: Strict({
    ask_above_percent: Type.Integer({ minimum: 0, maximum: REVIEW_BOUNDS_MAX.ask_above_percent }),
    refuse_above_times: Type.Integer({ minimum: 1, maximum: REVIEW_BOUNDS_MAX.refuse_above_times }),
    ask_below_percent: Type.Integer({ minimum: 0, maximum: REVIEW_BOUNDS_MAX.ask_below_percent }),
    reason: Text(2_000, 'Why; recorded in the audit log.'),
  }),
  audit: ['review_bounds.changed'],
  async handle({ installation, act, input: { reason: _reason, ...bounds } }) {
    return { bounds: await changeReviewBounds(installation, act, bounds) }
  },
})

/** The operations `review-bounds.<verb>`. */
export const reviewBounds = {
  show: showReviewBounds,
  set: setReviewBounds,
}
