import { currencyDecimals, isInMinorUnits } from '../core/schema/currency-decimals.ts'
import type { REVIEW_VERDICTS } from '../core/vocabularies.ts'
import type { NewId } from '../ids/new-id.ts'
import type { ReviewKey } from '../store/environment/reviews.ts'
import type { NewRow, RowOf } from '../store/schema/tables.ts'
import type { DomainEvent } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'

/** What a reviewer says about a decision, through the API or the console. */
export interface ReviewRequest {
  verdict: (typeof REVIEW_VERDICTS)[number]
  reviewer: { id: string; name?: string }
  reason: string
  reason_codes?: string[]
  conditions?: { code: string; label: string }[]
  recommended_limit?: number
  currency?: string
}

/** A review as it is returned to the caller. */
export type RecordedReview = ReviewRequest & {
  id: string
  object: 'review'
  decision_id: string
  entity_id: string
  overrides: boolean
  created_at: string
}

/** Names a reviewer for people. The name in a review of the API is what its caller sent, so the key is named with it. */
export function nameReviewer(reviewer: { id: string; name?: string } | undefined, key: ReviewKey | undefined): string {
  const name = reviewer?.name ?? reviewer?.id ?? 'another reviewer'
  return key === undefined ? name : `${name} (through API key ${key.name ?? key.id})`
}

/** Where a review contradicts itself or its decision. */
export interface ReviewViolation {
  param: string
  message: string
}

/** A review with the row and the domain event that record it. */
export interface NewReview {
  review: RecordedReview
  row: NewRow<'reviews'>
  domainEvent: DomainEvent
}

/** The one way to review a decision: checks what the reviewer says, and describes what has to be recorded. */
export function reviewDecision(
  { newId, now: asked }: { newId: NewId; now: string },
  decision: RowOf<'decisions'>,
  request: ReviewRequest,
): NewReview | { violations: ReviewViolation[] } {
  // A review is not dated before its decision, which a node with a clock that is ahead may have made.
  const now = asked > decision.created_at ? asked : decision.created_at
  const violations = checkReview(request)
  if (violations.length > 0) return { violations }
  const limited = checkLimit(decision, request)
  if ('param' in limited) return { violations: [limited] }

  const review: RecordedReview = {
    id: newId('rev'),
    object: 'review',
    decision_id: decision.id,
    entity_id: decision.entity_id,
    // A decision of `manual_review` leaves the verdict to the reviewer, so there is none to override.
    overrides: decision.verdict !== 'manual_review' && request.verdict !== decision.verdict,
    ...request,
    ...limited,
    created_at: now,
  }
  return { review, ...recordOf(decision.org_id, review) }
}

function recordOf(organizationId: string, review: RecordedReview): Pick<NewReview, 'row' | 'domainEvent'> {
  const { id, decision_id, entity_id, verdict, overrides, reviewer, created_at } = review
  const row = {
    id,
    decision_id,
    entity_id,
    verdict,
    overrides,
    reviewer_id: reviewer.id,
    body: JSON.stringify(review),
    created_at,
  }
  const record_sha256 = recordSha256<'reviews'>(organizationId, row)
  const domainEvent = {
    type: 'decision.reviewed' as const,
    subject: { type: 'review', id },
    trailId: entity_id,
    data: { entity_id, decision_id, review_id: id, verdict, overrides, record_sha256 },
  }
  return { row, domainEvent }
}

/** Finds where a review contradicts itself. */
function checkReview({ verdict, conditions, recommended_limit, currency }: ReviewRequest): ReviewViolation[] {
  const violations: ReviewViolation[] = []
  const refuse = (param: string, message: string) => violations.push({ param, message })
  if (verdict === 'approve_with_conditions' && !conditions)
    refuse('/conditions', 'approve_with_conditions needs conditions. Name at least one, or approve without.')
  if (verdict !== 'approve_with_conditions' && conditions)
    refuse('/conditions', `conditions are only allowed with approve_with_conditions, not with ${verdict}.`)
  if (verdict === 'decline' && recommended_limit !== undefined)
    refuse('/recommended_limit', 'recommended_limit is only allowed with an approval.')
  if (currency !== undefined && recommended_limit === undefined)
    refuse('/recommended_limit', 'recommended_limit is required with currency.')
  return violations
}

/** The currency of the limit of a review, if it has one, which is that of the decision; or why it may not have this limit. */
function checkLimit(
  { currency }: RowOf<'decisions'>,
  { recommended_limit, currency: sent }: ReviewRequest,
): { currency?: string } | ReviewViolation {
  if (recommended_limit === undefined) return {}
  if (currency === null)
    return { param: '/recommended_limit', message: 'This decision is about access, so it has no limit.' }
  if (sent !== undefined && sent !== currency)
    return { param: '/currency', message: `currency must be ${currency}, the currency of the decision.` }
  if (isInMinorUnits(recommended_limit, currency)) return { currency }
  const decimals = currencyDecimals(currency)
  const most = decimals === 0 ? 'no decimals' : `at most ${decimals} decimals`
  return { param: '/recommended_limit', message: `recommended_limit can have ${most} in ${currency}.` }
}
