import { decide } from '../core/decide/decide.ts'
import { describeDecision } from '../core/decide/describe-decision.ts'
import { explainDecision } from '../core/decide/explain-decision.ts'
import type { Facts } from '../core/facts/facts.ts'
import type { CompiledPolicy } from '../core/policy/compile/compiled-policy.ts'
import type { Environment } from '../core/vocabularies.ts'
import type { RecordedReplay } from './replay-recorded.ts'

/** Decides without recording anything: the same pure functions as a decision and its replay. */
export function dryRun(
  policy: CompiledPolicy,
  { facts, graph, decidedAt }: { facts: Facts; graph: Record<string, unknown> | null; decidedAt: string },
  environment: Environment,
): RecordedReplay {
  const evaluation = decide(policy, facts)
  const decision = describeDecision({
    id: 'dry_run',
    environment,
    evaluation,
    policy,
    requestId: 'dry_run',
    decidedAt,
  })
  return {
    differences: [],
    erased: null,
    decision: { ...decision },
    features: facts.features,
    merged: facts.merged ?? null,
    graph,
    policy,
    policyChecksum: policy.checksum,
    replayed: null,
    evaluation,
    explanation: explainDecision(policy, facts),
  }
}
