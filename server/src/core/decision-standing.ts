import type { Verdict } from './vocabularies.ts'

/** What a decision says, as far as money is concerned. */
export interface DecidedRequest {
  verdict: string
  requested_amount: number | null
  recommended_limit: number | null
}

/** What the newest review of a decision says, as far as money is concerned. */
export interface ReviewedVerdict {
  verdict: Verdict
  recommended_limit?: number
}

/** The verdict that stands for a decision, and the amount that goes with it. */
export interface DecisionStanding {
  /** That of the newest review, or else of the policy. */
  verdict: string
  isApproved: boolean
  /** The limit of the newest review if it names one, or else of the policy; without a limit, what was requested. Null if no amount was. */
  amount: number | null
}

/** What stands for a decision after its newest review, if it has any. */
export function standingOf(decision: DecidedRequest, review: ReviewedVerdict | undefined): DecisionStanding {
  const { verdict } = review ?? decision
  return {
    verdict,
    isApproved: verdict === 'approve' || verdict === 'approve_with_conditions',
    amount: review?.recommended_limit ?? decision.recommended_limit ?? decision.requested_amount,
  }
}
