import {
  type Approval,
  type Approver,
  type BeyondLimit,
  beyondLimits,
} from '../../../../server/src/core/approval-limits.ts'
import { writeMoney } from '../../components/write-number.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'

type Signed = NonNullable<ShownCase['signed']>
/** A request with the limit that a form says, if it approves it. */
interface SaidLimit {
  request: WaitingRequest
  limit?: number
}

type Reviewer = ShownCase['reviewers'][number]

/** What of the verdicts in a form is above the limits of the person who writes them. */
export function beyondOwnLimits(shown: ShownCase, plans: readonly SaidLimit[], me: string | undefined): BeyondLimit[] {
  const own = shown.reviewers.find(({ id }) => id === me)
  return own ? beyondLimits(shown.approval_limits, own as Approver, approvalsIn(plans)) : []
}

/** Who could sign these verdicts second. */
export function secondSigners(shown: ShownCase, plans: readonly SaidLimit[], me: string | undefined): Reviewer[] {
  return ableToSign(shown, approvalsIn(plans), me)
}

/** Who can sign second what another person has signed. */
export function whoSigns(shown: ShownCase, { verdicts }: Signed, firstId: string): Reviewer[] {
  const approvals = verdicts.flatMap(({ decision_id, limit }) => {
    const product = shown.requests.find(({ id }) => id === decision_id)?.product
    return limit && product !== undefined ? [{ product, ...limit }] : []
  })
  return ableToSign(shown, approvals, firstId)
}

function ableToSign(
  { reviewers, approval_limits }: ShownCase,
  approvals: readonly Approval[],
  firstId: string | undefined,
): Reviewer[] {
  return reviewers.filter(
    (reviewer) =>
      reviewer.id !== firstId && beyondLimits(approval_limits, reviewer as Approver, approvals, 'second').length === 0,
  )
}

function approvalsIn(plans: readonly SaidLimit[]): Approval[] {
  return plans.flatMap(({ request: { product, requested }, limit }) =>
    limit === undefined || !requested ? [] : [{ product, currency: requested.currency, amount: limit }],
  )
}

/** The most people that a sentence names. */
const NAMED_MAX = 3

/** `Priya Sample or Jonas Weil`; what to do where no other person may. */
export function namesOf(reviewers: readonly { name: string }[]): string {
  if (reviewers.length === 0) return 'a second person, and no other reviewer may sign for so much: ask an owner'
  const names = reviewers.slice(0, NAMED_MAX).map(({ name }) => name)
  return reviewers.length > NAMED_MAX ? `${names.join(', ')} or another reviewer` : names.join(' or ')
}

/** What a limit is exceeded by: `Needs a second signature: above €50,000.` */
export function beyondWords({ limit, currency }: BeyondLimit): string {
  return limit === 0
    ? `You may approve nothing in ${currency} alone.`
    : `Needs a second signature: above ${writeMoney(limit, currency)}.`
}

/** What the button of the second person says: `Sign for €52,000`. */
export function signWords({ verdicts }: Signed): string {
  const amounts = verdicts.flatMap(({ limit }) => (limit ? [writeMoney(limit.amount, limit.currency)] : []))
  return amounts.length === 0 ? 'Sign' : `Sign for ${amounts.join(' and ')}`
}
