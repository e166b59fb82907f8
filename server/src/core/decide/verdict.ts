import type { CompiledPolicy, CompiledRule } from '../policy/compile/compiled-policy.ts'
import type { Completeness, Confidence, LimitTrace } from './evaluation.ts'
import type { LimitBounds } from './limit-bounds.ts'
import { type Settled, settled } from './settling-steps.ts'

/** What the verdict depends on besides the policy. */
export interface VerdictQuestion {
  /** The amount that is judged; undefined for access without credit. */
  amount: number | undefined
  /** The rules that hold. */
  held: readonly CompiledRule[]
  score: number
  completeness: Completeness
  /** Null for access without credit, and under a policy without a scorecard. */
  confidence: Confidence | null
  bounds: LimitBounds | null
}

const KNOCK_OUT = settled('knock_out')
const DATA_QUESTIONED = settled('data_questioned')
const SCORE = settled('score')
const NO_LIMIT_LEFT = settled('no_limit_left')
const COMPLETENESS = settled('completeness')
const REVIEW_RULE = settled('review_rule')
const CONFIDENCE = settled('confidence')
const LIMIT_UNKNOWN = settled('limit_unknown')
const CONDITIONS = settled('conditions')
const NOTHING_AGAINST = settled('nothing_against')

/**
 * The verdict on one amount and the step that settled it: the first step that applies, in the order below.
 *
 * Declines come before reviews: otherwise a better fact that removes the cause of a review would turn it into a decline.
 */
export function verdictOn(policy: CompiledPolicy, question: VerdictQuestion): Settled {
  const { held } = question
  if (hasAction(held, 'decline')) return KNOCK_OUT
  if (held.some(({ questionsData }) => questionsData)) return DATA_QUESTIONED
  return question.amount === undefined ? onAccess(policy, question) : onCredit(policy, question)
}

/** Access without credit is not a question of repayment, so the score has no part in it. */
function onAccess({ document }: CompiledPolicy, { held, completeness }: VerdictQuestion): Settled {
  if (completeness.ppm < document.verdicts.completeness_min_ppm) return COMPLETENESS
  if (hasAction(held, 'manual_review')) return REVIEW_RULE
  return hasAction(held, 'condition') ? CONDITIONS : NOTHING_AGAINST
}

function onCredit({ document: { verdicts } }: CompiledPolicy, question: VerdictQuestion): Settled {
  const { held, score, completeness, confidence, bounds, amount } = question
  if (confidence !== null && confidence.decline_ppm >= verdicts.confidence_min_ppm) return SCORE
  const lowest = bounds?.lowest?.amount
  if (lowest !== undefined && lowest < bounds!.smallest) return NO_LIMIT_LEFT
  if (isBelowMinimum({ figures: question, bounds })) return NO_LIMIT_LEFT
  if (completeness.ppm < verdicts.completeness_min_ppm) return COMPLETENESS
  if (hasAction(held, 'manual_review')) return REVIEW_RULE
  if (confidence !== null && (score < verdicts.cutoff || confidence.ppm < verdicts.confidence_min_ppm))
    return CONFIDENCE
  if (bounds === null || bounds.step === null || bounds.missing.length > 0) return LIMIT_UNKNOWN
  if (lowest !== undefined && lowest < amount!) return NO_LIMIT_LEFT
  return hasAction(held, 'condition') ? CONDITIONS : NOTHING_AGAINST
}

function hasAction(held: readonly CompiledRule[], action: CompiledRule['action']): boolean {
  return held.some((rule) => rule.action === action)
}

/** Whether an amount is below the minimum of the product, which no term and no fact can change. */
export function isBelowMinimum({
  figures: { amount },
  bounds,
}: {
  figures: { amount: number | undefined }
  bounds: LimitBounds | null
}): boolean {
  if (bounds === null || bounds.step === null || amount === undefined) return false
  return bounds.smallest > bounds.step && amount < bounds.smallest
}

/** Whether some amount is approved, but less than was requested. */
export function isReduced(limit: LimitTrace | null): boolean {
  return limit !== null && limit.amount !== null && limit.amount > 0 && limit.binding !== 'requested'
}
