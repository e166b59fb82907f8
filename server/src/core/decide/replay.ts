import { canonicalJson } from '../canonical-json.ts'
import type { Facts } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { jsonDifferences } from '../policy/json-differences.ts'
import { decide } from './decide.ts'
import { describeDecision, type UnderwritingDecision } from './describe-decision.ts'
import type { Evaluation } from './evaluation.ts'

/** A place where the replayed decision differs from the recorded one; undefined on the side that has no value there. */
export interface Difference {
  path: string
  recorded: unknown
  replayed: unknown
}

/** The result of deciding again from recorded facts. */
export interface Replay {
  matches: boolean
  differences: Difference[]
  replayed: UnderwritingDecision
  evaluation: Evaluation
}

/** Decides again from the recorded facts, and compares the canonical form with the recorded decision byte for byte. */
export function replay(policy: CompiledPolicy, facts: Facts, recorded: UnderwritingDecision): Replay {
  const evaluation = decide(policy, facts)
  const { id, environment, request_id: requestId, reference, created_at: decidedAt } = recorded
  const replayed = describeDecision({ id, environment, evaluation, policy, requestId, reference, decidedAt })
  const matches = canonicalJson(recorded) === canonicalJson(replayed)
  const differences = jsonDifferences(recorded, replayed).map(({ path, before, after }) => ({
    path,
    recorded: before,
    replayed: after,
  }))
  return { matches, differences, replayed, evaluation }
}
