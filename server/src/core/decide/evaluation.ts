import type { FactSet, FactValue, MissingBecause } from '../facts/facts.ts'
import type { Reason, RuleTrace } from '../policy/compile/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import type { SettledBy } from './settling-steps.ts'

/** Recorded with every decision; raised whenever the same policy and facts would give other bytes. */
export const ENGINE_VERSION = '1'

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

/**
 * How sure the score is to be on its side of the cutoff: the distance to it and the score's variance. `decline_ppm` is how
 * sure the score is to be below the cutoff whatever the missing values are: zero if the best ones would reach it.
 */
export interface Confidence {
  decline_ppm: number
  distance: number
  ppm: number
  variance: number
}

/** One bound of the limit. */
export interface LimitTerm {
  /** A term of the policy, or `requested`. */
  term: string
  amount: number
}

/**
 * The limit, its terms at that amount, and what keeps it from being higher: a term, a rule that caps it, the `maximum` or
 * `minimum` of the product, `requested`, `risk` (score and confidence) or `rule`. `amount` is null if facts for a term are missing, and 0 if no amount is approved.
 */
export interface LimitTrace {
  currency: string
  terms: LimitTerm[]
  missing: string[]
  step: number | null
  binding: string | null
  amount: number | null
}

/** A feature that the policy computed: its value, or why it has none. */
export interface DerivedTrace {
  feature: string
  value: FactValue | null
  missing?: MissingBecause
  age_days?: number
}

/** The price of credit, of the tier of the amount that is approved, or else of what was requested. */
export interface CreditTerms {
  term_months: number
  /** The price of the tier, if the product has one for it. */
  annual_rate: number
  fee_rate: number
  /** In the currency of the request. */
  fee_amount: number
  /** The monthly instalment. */
  instalment: number
}

/** Access without credit has no price. */
export type NoTerms<Terms> = { [Name in keyof Terms]: null }

/** What a decision used: the segment, the product and the tier, and the terms of credit. */
export type TermsUsed = {
  /** Null if the terms are those of the document itself. */
  segment: string | null
  /** The product whose terms were used, which is `default` for one that the policy does not list. */
  product: string
  requested_product: string | null
  tier: string
} & (CreditTerms | NoTerms<CreditTerms>)

/** Everything that led to a verdict. */
export interface DecisionTrace {
  /** Only under a policy that computes features or has segments. */
  derived?: DerivedTrace[]
  /** The segment of the applicant; null for the document itself. Only under a policy with segments or derived features. */
  segment?: string | null
  engine_version: string
  request: FactSet
  rule_trace: RuleTrace[]
  scorecard: ScorecardLine[]
  /** `bad_ppm` is null for access, and if the probability is external and missing; `rule_points` is there if rules can add points. */
  score: {
    base: number
    rule_points?: number
    total: number
    cutoff: number
    bad_ppm: number | null
    /** Where `bad_ppm` is from; only under a policy that names an external probability. */
    probability_source?: 'external' | 'table' | null
  }
  completeness: Completeness
  /** Null for access without credit, which the score does not decide. */
  confidence: Confidence | null
  limit: LimitTrace | null
  settled_by: SettledBy
}

/** The score of a decision; null under a policy without a scorecard, whose trace has no line of one. */
export function scoreIn({
  score,
  scorecard,
}: Pick<DecisionTrace, 'score' | 'scorecard'>): DecisionTrace['score'] | null {
  return scorecard.length === 0 ? null : score
}

/** What `decide` returns: a decision without id and time, the same for the same policy and facts. */
export interface Evaluation {
  verdict: Verdict
  tier: string
  /** Null if no amount was requested or nothing is approved. */
  limit: number | null
  reasons: Reason[]
  conditions: OpenCondition[]
  terms: TermsUsed
  trace: DecisionTrace
}
