import type { FactSet, FactValue, MissingBecause } from '../facts/facts.ts'
import type { Reason, RuleTrace } from '../policy/compiled-policy.ts'
import type { LimitBound, Verdict } from '../vocabularies.ts'

export type { Reason, RuleTrace }

/** A condition that the applicant has to meet before the approval holds. */
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
  /** Why the value is missing. */
  missing?: MissingBecause
  bin: string
  points: number
  reference: number
  shortfall: number
  age_days?: number
}

/** How much of the policy's inputs is known, by weight. */
export interface Completeness {
  known_weight: number
  total_weight: number
  ppm: number
  missing: string[]
}

/** How sure the score is to be on its side of the cutoff: the distance to it and the score's variance. */
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

/** The limit, its bounds, and the bound that binds; `amount` is null if facts for a bound are missing. */
export interface LimitTrace {
  currency: string
  terms: LimitTerm[]
  missing: string[]
  step: number | null
  binding: LimitTerm['term'] | null
  amount: number | null
}

/** The step that settled the verdict; docs/deciding.md explains each. */
export type SettledBy =
  | 'knock_out'
  | 'completeness'
  | 'review_rule'
  | 'confidence'
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

/** What `decide` returns: a decision without id and time, the same for the same policy and facts. */
export interface Evaluation {
  verdict: Verdict
  tier: string
  /** Null if no amount was requested or nothing is approved. */
  limit: number | null
  reasons: Reason[]
  conditions: OpenCondition[]
  trace: DecisionTrace
}
