import type { OutcomeType, Verdict } from '../vocabularies.ts'
import type { MonitoredAttribute } from './monitored-groups.ts'

/** How many decisions the policy that decided gave each verdict, and of these, how many the proposal gives each verdict. */
export type VerdictMatrix = Record<Verdict, Record<Verdict, number>>

/** A share with the bounds of its 95 % interval; null where it is not known. */
export interface Estimate {
  share: number | null
  low: number | null
  high: number | null
}

/** The share of cases that ended badly, with the bounds of its 95 % interval by entity (Wilson). */
export interface BadShare extends Estimate {
  /** Cases that are old enough and whose outcome is known. */
  known: number
  bad: number
}

/**
 * The bad rate of what the proposal approves, against that of what was approved. Kept are cases that both approve: their rate
 * is observed. That of the newly approved can only be expected.
 */
export interface Headline {
  /** How old a decision has to be before its outcome counts. */
  maturity_days: number
  /** Approved then and now. `mature` are those that are old enough. */
  kept: { approved: number; mature: number; outcomes: BadShare }
  newly_approved: {
    approved: number
    /** By the policy's probabilities, corrected by the outcomes that are known. */
    expected: Estimate
    /** By the policy's probabilities alone. */
    by_table: number | null
    /** Without a probability, and in no expectation. */
    without_probability: number
  }
  /** All that were approved, observed. */
  before: BadShare
  /** All that the proposal approves: kept and newly approved, in proportion to their numbers. */
  together: Estimate
  /** `together` less `before`. */
  difference: Estimate
  /** What the interval of the difference says: whether it is above zero, below, or holds it; null without a difference. */
  change: 'worse' | 'better' | 'not_shown' | null
}

/** The approvals of one side: by the policies and people that decided, or by the proposal. */
export interface Approvals {
  approved: number
  /** Of all decisions. */
  rate: number
  /** The approved amounts, and what is expected to be lost of them, in the reference currency of the proposal. */
  amount: number
  /** By probability and loss given default; null if no approved amount has a probability. */
  expected_loss: number | null
  /** Approved credits without a probability, or in a currency without a rate; they are in no expected loss. */
  loss_unknown: number
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

/** The limits that a policy sets to its backtests. */
export type LimitName = 'decisions_min' | 'bad_ppm_max' | 'approved_ppm_min' | 'approved_ppm_max' | 'changed_ppm_max'

/** A limit and whether it is kept. Shares are in millionths; `found` is null if it is not known, and then the limit is not kept. */
export interface LimitCheck {
  limit: LimitName
  allowed: number
  found: number | null
  is_kept: boolean
  /** For people: what was found, what is allowed, and by how much it is broken. */
  words: string
}

/** Cases of similar scores: the bad rate that the policy expects of them, and what was observed. */
export interface CalibrationBand {
  score_from: number
  score_to: number
  expected: number
  observed: BadShare
}

/** What the probabilities of a policy say of the approved cases with known outcomes, against what happened. */
export interface Calibration {
  /** The mean probability; null without a case that has one. */
  expected: number | null
  observed: BadShare
  /** How many cases count as independent: see `independentCases`. */
  independent: number
  /** Whether enough is known, and the expected rate is outside of the interval of the observed one. */
  has_parted: boolean
  /** By score, lowest first. */
  bands: CalibrationBand[]
  /** For each scorecard with a probability table, the calibration points under which the expected rate is the observed one, if enough is known. */
  proposals: CalibrationProposal[]
}

/** A scorecard and the calibration points that fit it to the outcomes. */
export interface CalibrationProposal {
  /** The name of the segment that the scorecard is of; null for that of the document. */
  segment: string | null
  known: number
  bad: number
  /** As the policy has it. */
  points_now: number
  points: number
  /** The points at the bounds of the interval of the observed rate. */
  points_low: number
  points_high: number
}

/** What a proposal would have decided on recorded decisions. */
export interface BacktestResult {
  decided: number
  /** Decisions whose recorded facts cannot be read any more; they count nowhere else. */
  unreadable: number
  /** When the oldest and the newest of them were made; null without any. */
  first_at: string | null
  last_at: string | null
  headline: Headline
  /** Those that the proposal sets. */
  limits: LimitCheck[]
  matrix: VerdictMatrix
  /** The reference currency of the proposal, in which amounts are; null if none of its currencies is. */
  currency: string | null
  loss_given_default_ppm: number
  changed: number
  /** Decisions whose verdict is that of a person, before or after. */
  by_people: number
  before: Approvals
  after: Approvals
  newly_approved: SwapSet
  no_longer_approved: SwapSet
  calibration: Calibration
  rules: RuleMatches[]
  /** How applicants fare by the attributes that the policy monitors and cannot read. */
  monitored: MonitoredAttribute[]
  /** The newest of the changed cases, at most 200 of each kind: newly approved, no longer approved, others. */
  changed_cases: ChangedCase[]
}
