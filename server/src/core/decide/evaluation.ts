import type { FactSet, FactValue, MissingBecause } from '../facts/facts.ts'
import type { Reason, RuleTrace } from '../policy/compiled-policy.ts'
import type { LimitBound, Verdict } from '../vocabularies.ts'

export type { Reason, RuleTrace }

/** Something the applicant has to accept or bring before the approval counts. */
export interface OpenCondition {
  code: string
  label: string
  node: string
}

/** One line of the scorecard. */
export interface ScorecardLine {
  characteristic: string
  feature: string
  group: string
  value: FactValue | null
  /** Why there is no value, where there is none. */
  missing?: MissingBecause
  bin: string
  points: number
  reference: number
  shortfall: number
  age_days?: number
}

/** How much of what the policy asks for is known. */
export interface Completeness {
  known_weight: number
  total_weight: number
  ppm: number
  missing: string[]
}

/** How far the score is from the cutoff, measured in how uncertain the score is. */
export interface Confidence {
  distance: number
  variance: number
  ppm: number
}

/** One bound of the limit. */
export interface LimitTerm {
  term: LimitBound | 'requested'
  amount: number
}

/** The limit, the bounds it was taken from, and the one that binds; null where facts for a bound are missing. */
export interface LimitTrace {
  currency: string
  terms: LimitTerm[]
  missing: string[]
  step: number | null
  binding: LimitTerm['term'] | null
  amount: number | null
}

/** Which step of the way from facts to verdict settled it. */
export type SettledBy =
  | 'knock_out'
  | 'completeness'
  | 'confidence'
  | 'review_rule'
  | 'score'
  | 'limit_unknown'
  | 'no_limit_left'
  | 'conditions'
  | 'nothing_against'

/** Everything that led to a verdict. */
export interface DecisionTrace {
  engine_version: string
  request: FactSet
  rule_trace: RuleTrace[]
  scorecard: ScorecardLine[]
  score: { base: number; total: number; cutoff: number; bad_ppm: number }
  completeness: Completeness
  confidence: Confidence
  limit: LimitTrace | null
  settled_by: SettledBy
}

/** A decision before it gets an id and a time: pure data, the same for the same policy and facts. */
export interface Evaluation {
  verdict: Verdict
  tier: string
  /** Null where nothing was asked for or nothing is approved. */
  limit: number | null
  reasons: Reason[]
  conditions: OpenCondition[]
  trace: DecisionTrace
}
