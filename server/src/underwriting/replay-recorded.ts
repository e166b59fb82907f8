import { canonicalJson, sha256 } from '../core/canonical-json.ts'
import type { DecisionOutcome } from '../core/decide/decision-outcome.ts'
import type { UnderwritingDecision } from '../core/decide/describe-decision.ts'
import { replay } from '../core/decide/replay.ts'
import type { Facts } from '../core/facts/facts.ts'
import { compilePolicy } from '../core/policy/compile-policy.ts'
import type { CompiledPolicy } from '../core/policy/compiled-policy.ts'
import { jsonDifferences } from '../core/policy/json-differences.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'
import type { RecordedDecision } from '../store/decisions.ts'

/** A place where what is stored is not what was recorded, or what comes out now is not what came out then. */
export interface ReplayDifference {
  path: string
  recorded: unknown
  replayed: unknown
}

/** A decision made again from what is stored, as far as that can still be read. */
export interface RecordedReplay {
  differences: ReplayDifference[]
  facts: Facts | null
  policy: CompiledPolicy | null
  graph: Record<string, unknown> | null
  replayed: UnderwritingDecision | null
  outcome: DecisionOutcome | null
}

/** What the audit entry of a decision vouches for. */
type Vouched = Partial<
  Record<'decision_sha256' | 'facts_sha256' | 'trace_sha256' | 'graph_sha256' | 'policy_checksum' | 'verdict', string>
>

/** The hashes that a decision's audit entry vouches with, so that nothing it was made from can change unseen. */
export function evidenceHashes({
  decision,
  facts,
  trace,
  graph,
}: Record<'decision' | 'facts' | 'trace' | 'graph', string>) {
  return {
    decision_sha256: sha256(decision),
    facts_sha256: sha256(facts),
    trace_sha256: sha256(trace),
    graph_sha256: sha256(graph),
  }
}

/** Decides again from the stored evidence, and holds every stored part against what the audit entry vouches for. */
export function replayRecorded(recorded: RecordedDecision): RecordedReplay {
  const decision = JSON.parse(recorded.body) as UnderwritingDecision
  const facts = parsed<Facts>(recorded.facts)
  const policy = compiled(recorded.policy)
  const altered = alteredParts(recorded, policy)
  const readable = facts?.features && policy ? { facts, policy } : null
  if (!readable)
    return { differences: altered, facts, policy, graph: parsed(recorded.graph), replayed: null, outcome: null }

  const { differences, replayed, outcome } = replay(readable.policy, readable.facts, decision)
  const trace = jsonDifferences(parsed(recorded.trace), JSON.parse(canonicalJson(outcome.trace)))
  const traceDifferences = trace.map(({ path, before, after }) => ({
    path: `/trace${path}`,
    recorded: before,
    replayed: after,
  }))
  return {
    differences: [...altered, ...differences, ...traceDifferences],
    facts,
    policy,
    graph: parsed(recorded.graph),
    replayed,
    outcome,
  }
}

function alteredParts(recorded: RecordedDecision, policy: CompiledPolicy | null): ReplayDifference[] {
  const vouched = parsed<Vouched>(recorded.audit_data)
  if (!vouched) return [{ path: '/audit', recorded: null, replayed: null }]
  const parts: [path: string, vouched: string | undefined, stored: string | null][] = [
    ['/decision', vouched.decision_sha256, sha256(recorded.body)],
    ['/evidence/facts', vouched.facts_sha256, recorded.facts && sha256(recorded.facts)],
    ['/evidence/trace', vouched.trace_sha256, recorded.trace && sha256(recorded.trace)],
    ['/evidence/graph', vouched.graph_sha256, recorded.graph && sha256(recorded.graph)],
    ['/evidence/policy', vouched.policy_checksum, policy?.checksum ?? null],
    ['/columns/policy_checksum', vouched.policy_checksum, recorded.policy_checksum],
    ['/columns/verdict', vouched.verdict, recorded.verdict],
  ]
  return parts
    .filter(([, expected, stored]) => expected !== stored)
    .map(([path, expected, stored]) => ({ path, recorded: expected, replayed: stored }))
}

function compiled(document: string | null): CompiledPolicy | null {
  const policy = parsed<PolicyDocument>(document)
  if (!policy) return null
  try {
    const result = compilePolicy(policy)
    return 'policy' in result ? result.policy : null
  } catch {
    return null // a document that was altered may have any shape
  }
}

function parsed<T>(text: string | null): T | null {
  try {
    return text === null ? null : (JSON.parse(text) as T)
  } catch {
    return null
  }
}
