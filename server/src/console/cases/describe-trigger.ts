import type { DecisionTrace } from '../../core/decide/evaluation.ts'
import type { ReviewEvidence } from '../../underwriting/review-evidence.ts'

/** What made a decision wait for a person, as figures: the page puts them into words, in the notation of the person. */
export interface Trigger {
  /** Whether the evidence is stored, was deleted, or was altered so that it cannot be read. */
  evidence: ReviewEvidence['state']
  /** The step that settled it; null where the evidence cannot be read. */
  settled_by: DecisionTrace['settled_by'] | null
  /** The first reason against the request. */
  reason: { code: string; label: string } | null
  /** Shares in millionths: how sure the score is, how much is known, and what the policy asks for. */
  confidence_ppm: number | null
  completeness_ppm: number | null
  confidence_min_ppm: number | null
  completeness_min_ppm: number | null
  /** The features without which the limit cannot be computed. */
  missing: readonly string[]
}

/** What the policy asks for; null where the policy is not stored any more. */
type PolicyMinimums = Pick<Trigger, 'confidence_min_ppm' | 'completeness_min_ppm'>

interface StatedReason {
  code: string
  label: string
  impact: string
}

/** Says why a decision was left to a person, by the step that settled it. */
export function describeTrigger(
  { state, trace }: Pick<ReviewEvidence, 'state' | 'trace'>,
  reasons: readonly StatedReason[],
  { confidence_min_ppm, completeness_min_ppm }: PolicyMinimums,
): Trigger {
  const against = reasons.find(({ impact }) => impact === 'negative')
  return {
    evidence: state,
    settled_by: trace?.settled_by ?? null,
    reason: against ? { code: against.code, label: against.label } : null,
    confidence_ppm: trace?.confidence?.ppm ?? null,
    completeness_ppm: trace?.completeness.ppm ?? null,
    confidence_min_ppm,
    completeness_min_ppm,
    missing: trace?.limit?.missing ?? [],
  }
}
