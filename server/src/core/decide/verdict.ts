import type { CompiledPolicy, CompiledRule } from '../policy/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import type { Completeness, Confidence, LimitTrace, SettledBy } from './evaluation.ts'

/** What the verdict depends on besides the policy. */
export interface VerdictQuestion {
  /** The rules that hold. */
  held: readonly CompiledRule[]
  score: number
  completeness: Completeness
  confidence: Confidence
  limit: LimitTrace | null
}

/** The verdict and the step that settled it: the first step that applies, in the order below. */
export function verdictOn(
  policy: CompiledPolicy,
  question: VerdictQuestion,
): { verdict: Verdict; settledBy: SettledBy } {
  const { verdicts } = policy.document
  const { held, score, completeness, confidence, limit } = question
  if (hasAction(held, 'decline')) return { verdict: 'decline', settledBy: 'knock_out' }
  if (completeness.ppm < verdicts.completeness_min_ppm) return { verdict: 'manual_review', settledBy: 'completeness' }
  if (hasAction(held, 'manual_review')) return { verdict: 'manual_review', settledBy: 'review_rule' }
  if (confidence.ppm < verdicts.confidence_min_ppm) return { verdict: 'manual_review', settledBy: 'confidence' }
  if (score < verdicts.cutoff) return { verdict: 'decline', settledBy: 'score' }
  if (limit !== null && limit.amount === null) return { verdict: 'manual_review', settledBy: 'limit_unknown' }
  if (limit !== null && limit.amount === 0) return { verdict: 'decline', settledBy: 'no_limit_left' }
  if (hasAction(held, 'condition') || isReduced(limit))
    return { verdict: 'approve_with_conditions', settledBy: 'conditions' }
  return { verdict: 'approve', settledBy: 'nothing_against' }
}

function hasAction(held: readonly CompiledRule[], action: CompiledRule['action']): boolean {
  return held.some((rule) => rule.action === action)
}

/** Whether the limit is below the requested amount. */
export function isReduced(limit: LimitTrace | null): boolean {
  return limit !== null && limit.amount !== null && limit.binding !== 'requested'
}
