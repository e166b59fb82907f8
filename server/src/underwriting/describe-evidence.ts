import { scoreIn } from '../core/decide/evaluation.ts'
import { objectIn } from '../core/stored-json.ts'
import type { RecordedReplay } from './replay-recorded.ts'

/**
 * Describes what a decision was made from, as callers see it. Facts, policy and graph are what was recorded; everything else
 * is computed again from the recorded facts under the recorded policy.
 */
export function describeEvidence({
  features,
  merged,
  policy,
  policyChecksum,
  graph,
  evaluation,
  explanation,
}: RecordedReplay) {
  const trace = evaluation?.trace
  return {
    feature_snapshot: features,
    ...(merged && { merged: [...merged] }),
    policy_version: policy?.document.version ?? null,
    policy_checksum: policyChecksum,
    policy: policy && { ...policy.document },
    model_version: policy?.document.model_version ?? null,
    engine_version: trace?.engine_version ?? null,
    settled_by: trace?.settled_by ?? null,
    score: trace ? scoreIn(trace) : null,
    completeness: trace?.completeness ?? null,
    confidence: trace?.confidence ?? null,
    segment: evaluation?.terms.segment ?? null,
    product: explanation?.product ?? null,
    request: trace ? { ...trace.request } : null,
    missing_features: explanation?.missing_features ?? [],
    derived: trace?.derived ?? [],
    rule_trace: explanation?.rules ?? [],
    scorecard: explanation?.scorecard ?? [],
    limit: trace?.limit ?? null,
    better_amount: explanation?.better_amount ?? null,
    counter_offer: explanation?.counter_offer ?? null,
    reasons: evaluation?.reasons ?? [],
    graph,
  }
}

/** The evidence of a decision, as callers see it. */
export type Evidence = ReturnType<typeof describeEvidence>

/** The stored bodies that are JSON objects; stored rows may have been altered in any way. */
export function parseBodies(bodies: readonly string[]): Record<string, unknown>[] {
  return bodies.map(objectIn).filter((body) => body !== undefined)
}
