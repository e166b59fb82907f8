import { leafHashOf } from '../core/audit/audit-entry.ts'
import { canonicalJson, sha256 } from '../core/canonical-json.ts'
import type { UnderwritingDecision } from '../core/decide/describe-decision.ts'
import type { Evaluation } from '../core/decide/evaluation.ts'
import { type Difference, replay } from '../core/decide/replay.ts'
import { isObject, replayableFacts } from '../core/decide/replayable-facts.ts'
import type { CompiledPolicy } from '../core/policy/compiled-policy.ts'
import { jsonDifferences } from '../core/policy/json-differences.ts'
import { describeProblem } from '../core/policy/policy-problem.ts'
import type { DecisionEntry, RecordedDecision } from '../store/queries/decisions.ts'
import { compileOnce } from './compiled-policies.ts'

/** A decision made again from what is stored, as far as that can still be read. */
export interface RecordedReplay {
  /** Where what is stored is not what was recorded, or what comes out now is not what came out then. */
  differences: Difference[]
  /** What is stored, as far as it is an object at all; it may have been altered into anything. */
  decision: Record<string, unknown> | null
  features: Record<string, unknown> | null
  graph: Record<string, unknown> | null
  policy: CompiledPolicy | null
  /** Of the policy as it is stored now. */
  policyChecksum: string | null
  replayed: UnderwritingDecision | null
  evaluation: Evaluation | null
}

/** What the audit entry of a decision vouches for. */
type Vouched = Partial<
  Record<
    | 'decision_sha256'
    | 'facts_sha256'
    | 'trace_sha256'
    | 'graph_sha256'
    | 'policy_checksum'
    | 'verdict'
    | 'entity_id'
    | 'policy_version',
    unknown
  >
>

/** Decides again from the stored evidence, and holds every stored part against what the audit entry vouches for. */
export function replayRecorded(recorded: RecordedDecision): RecordedReplay {
  const decision = objectOf(recorded.body)
  const facts = objectOf(recorded.facts)
  const replayable = replayableFacts(facts)
  const stored = {
    decision,
    features: isObject(facts?.features) ? facts.features : null,
    graph: objectOf(recorded.graph),
    policyChecksum: recorded.policy === null ? null : sha256(recorded.policy),
  }
  const vouched = vouchedBy(recorded.entry)
  const policy = readPolicy(recorded, String(vouched?.policy_checksum ?? recorded.policy_checksum))
  const altered = onePerPath([
    ...alteredParts(recorded, vouched),
    ...unreadableParts(recorded, 'unreadable' in replayable ? replayable.unreadable : []),
    ...('differences' in policy ? policy.differences : []),
  ])
  const nothing = { ...stored, differences: altered, policy: null, replayed: null, evaluation: null }
  if (!('policy' in policy)) return nothing
  if (!decision || !('facts' in replayable)) return { ...nothing, policy: policy.policy }

  try {
    const { differences, replayed, evaluation } = replay(
      policy.policy,
      replayable.facts,
      decision as unknown as UnderwritingDecision,
    )
    const all = [...altered, ...differences, ...traceDifferences(recorded, evaluation)]
    return { ...stored, differences: all, policy: policy.policy, replayed, evaluation }
  } catch (error) {
    // Altered numbers may be too large to reckon with; what was recorded never is.
    if (altered.length === 0) throw error
    return { ...nothing, policy: policy.policy }
  }
}

function traceDifferences({ trace }: RecordedDecision, evaluation: Evaluation): Difference[] {
  const differences = jsonDifferences(jsonOf(trace), JSON.parse(canonicalJson(evaluation.trace)))
  return differences.map(({ path, before, after }) => ({ path: `/trace${path}`, recorded: before, replayed: after }))
}

/** What an entry says, if it is still the one that the log has. */
function vouchedBy(entry: DecisionEntry | null): Vouched | null {
  const data = objectOf(entry?.data ?? null)
  if (!entry || !data) return null
  const { org_id, id, trail_id, type, occurred_at, actor_type, actor_id, request_id } = entry
  const leaf = leafHashOf(org_id, {
    id,
    trail_id,
    type,
    occurred_at,
    actor: { type: actor_type as 'api_key', id: actor_id },
    request_id,
    subject: { type: entry.subject_type, id: entry.subject_id },
    data,
  })
  return leaf === entry.leaf_hash && leaf === (entry.sealed_hash ?? leaf) ? data : null
}

function alteredParts(recorded: RecordedDecision, vouched: Vouched | null): Difference[] {
  const { entry, audit_entry_id } = recorded
  const said = vouched ?? objectOf(entry?.data ?? null)
  const parts: [path: string, vouched: unknown, stored: string | null][] = [
    ['/decision', said?.decision_sha256, sha256(recorded.body)],
    ['/evidence/facts', said?.facts_sha256, recorded.facts && sha256(recorded.facts)],
    ['/evidence/trace', said?.trace_sha256, recorded.trace && sha256(recorded.trace)],
    ['/evidence/graph', said?.graph_sha256, recorded.graph && sha256(recorded.graph)],
    ['/evidence/policy', said?.policy_checksum, recorded.policy && sha256(recorded.policy)],
    ['/columns/policy_checksum', said?.policy_checksum, recorded.policy_checksum],
    ['/columns/policy_version', said?.policy_version, recorded.policy_version],
    ['/columns/verdict', said?.verdict, recorded.verdict],
    ['/columns/entity_id', said?.entity_id, recorded.entity_id],
  ]
  const differing = (said ? parts : []).filter(([, expected, is]) => expected !== is)
  const differences = differing.map(([path, expected, is]) => ({ path, recorded: expected, replayed: is }))
  if (!vouched) differences.unshift({ path: '/audit', recorded: null, replayed: entry?.id ?? null })
  if (entry && audit_entry_id !== null && audit_entry_id !== entry.id)
    differences.push({ path: '/evidence/audit_entry_id', recorded: entry.id, replayed: audit_entry_id })
  return differences
}

/** Parts without the form they were recorded in. */
function unreadableParts(recorded: RecordedDecision, facts: readonly string[]): Difference[] {
  const paths = [
    ...(objectOf(recorded.body) ? [] : ['/decision']),
    ...facts.map((path) => `/evidence/facts${path}`),
    ...(objectOf(recorded.trace) ? [] : ['/evidence/trace']),
    ...(objectOf(recorded.graph) ? [] : ['/evidence/graph']),
  ]
  return paths.map((path) => ({ path, recorded: null, replayed: null }))
}

function readPolicy(
  { policy: document }: RecordedDecision,
  checksum: string,
): { policy: CompiledPolicy } | { differences: Difference[] } {
  const path = '/evidence/policy'
  if (document === null) return { differences: [{ path, recorded: checksum, replayed: null }] }
  const compiled = compileOnce({ document, checksum })
  if ('policy' in compiled) return compiled
  if ('altered' in compiled) return { differences: [{ path, recorded: checksum, replayed: sha256(document) }] }
  return { differences: [{ path, recorded: checksum, replayed: compiled.problems.map(describeProblem).join('\n') }] }
}

function onePerPath(differences: readonly Difference[]): Difference[] {
  return differences.filter(({ path }, index) => differences.findIndex((other) => other.path === path) === index)
}

function objectOf(text: string | null): Record<string, unknown> | null {
  const value = jsonOf(text)
  return isObject(value) ? value : null
}

/** What a text says in JSON; null also where it has no canonical form, in which everything is recorded. */
function jsonOf(text: string | null): unknown {
  try {
    const value: unknown = text === null ? null : JSON.parse(text)
    canonicalJson(value)
    return value
  } catch {
    return null
  }
}
