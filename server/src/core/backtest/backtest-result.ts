import type { OutcomeType, Verdict } from '../vocabularies.ts'

/** How many decisions the policy that decided gave each verdict, and of these, how many the proposal gives each verdict. */
export type VerdictMatrix = Record<Verdict, Record<Verdict, number>>

/** A share of cases that ended badly, with the bounds of its 95 % interval (Wilson); null without a known outcome. */
export interface BadShare {
  /** Cases whose outcome is known. */
  known: number
  bad: number
  share: number | null
  low: number | null
  high: number | null
}

/** The approvals of one side: by the policies that decided, or by the proposal. */
export interface Approvals {
  approved: number
  /** Of all decisions. */
  rate: number
  /** Among the approved. */
  outcomes: BadShare
  /** The approved amounts, and what is expected to be lost of them, in the reference currency of the proposal. */
  amount: number
  expected_loss: number
}

/** Cases that one side approves and the other does not. */
export interface SwapSet {
  count: number
  outcomes: BadShare
}

/** How many decisions a rule of the proposal matches, and how these ended. */
export interface RuleMatches {
  rule: string
  matched: number
  known: number
  bad: number
}

/** A decision to which the proposal gives another verdict. */
export interface ChangedCase {
  decision_id: string
  entity_id: string
  decided_at: string
  before: Verdict
  after: Verdict
  outcome: OutcomeType | null
}

/** What a proposal would have decided on recorded decisions. */
export interface BacktestResult {
  decided: number
  /** Decisions whose recorded facts cannot be read any more; they count nowhere else. */
  unreadable: number
  /** When the oldest and the newest of them were made; null without any. */
  first_at: string | null
  last_at: string | null
  matrix: VerdictMatrix
  /** The reference currency of the proposal, in which amounts are; null if none of its currencies is. */
  currency: string | null
  changed: number
  before: Approvals
  after: Approvals
  newly_approved: SwapSet
  no_longer_approved: SwapSet
  rules: RuleMatches[]
  /** The newest of the changed cases, at most 200 of each kind: newly approved, no longer approved, others. */
  changed_cases: ChangedCase[]
}
