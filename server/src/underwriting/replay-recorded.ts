import { canonicalJson, sha256 } from '../core/canonical-json.ts'
import type { UnderwritingDecision } from '../core/decide/describe-decision.ts'
import type { Evaluation } from '../core/decide/evaluation.ts'
import { type Explanation, explainDecision } from '../core/decide/explain-decision.ts'
import { type Difference, replay } from '../core/decide/replay.ts'
import { replayableFacts } from '../core/decide/replayable-facts.ts'
import { describeProblem } from '../core/policy/check/policy-problem.ts'
import type { CompiledPolicy } from '../core/policy/compile/compiled-policy.ts'
import { jsonDifferences } from '../core/policy/json-differences.ts'
import { isObject } from '../core/stored-json.ts'
import type { DecisionEntry, RecordedDecision } from '../store/environment/decisions.ts'
import { hashOfStored } from '../store/environment/stored-entry.ts'
import { documentsSha256 } from '../store/erasure/redactions.ts'
import { dataOf } from '../store/write-path/entry-data.ts'
import { compileOnce } from './compiled-policies.ts'

/** The replay of a stored decision, as far as the stored parts can still be read. */
export interface RecordedReplay {
  /** Stored parts that differ from what the audit entry recorded, and results that differ from the recorded decision. */
  differences: Difference[]
  /** The stored parts; null where the text is not a JSON object, because it may have been altered arbitrarily. */
  decision: Record<string, unknown> | null
  features: Record<string, unknown> | null
  /** The entities that were read as one, sorted by id; null if there was only one. */
  merged: readonly string[] | null
  graph: Record<string, unknown> | null
  policy: CompiledPolicy | null
  /** The checksum of the policy text that is stored now. */
  policyChecksum: string | null
  replayed: UnderwritingDecision | null
  evaluation: Evaluation | null
  explanation: Explanation | null
  /** Set if the entity was erased, or texts of one that it was merged with: since when, and what is left of the documents. */
  erased: { approvedAt: string; evidence: ErasedEvidence } | null
}

/** What an erasure left of the documents of a decision: all, all but texts of callers, or nothing. */
export type ErasedEvidence = 'kept' | 'without_texts' | 'gone'

/** The hashes and columns of a decision that its audit entry recorded. */
type AuditedValues = Partial<
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

/** Decides again from the stored evidence, and compares every stored part with the hash in the audit entry. */
export function replayRecorded(recorded: RecordedDecision): RecordedReplay {
  const decision = objectOf(recorded.body)
  const facts = objectOf(recorded.facts)
  const replayable = replayableFacts(facts)
  const stored = {
    decision,
    features: isObject(facts?.features) ? facts.features : null,
    merged: mergedIn(facts),
    graph: objectOf(recorded.graph),
    policyChecksum: recorded.policy === null ? null : sha256(recorded.policy),
    erased: erasedIn(recorded),
  }
  const audited = auditedValues(recorded.entry)
  const policy = readPolicy(recorded, String(audited?.policy_checksum ?? decision?.policy_checksum))
  const altered = onePerPath([
    ...alteredParts(recorded, audited),
    ...alteredReference(recorded, decision),
    ...unreadableParts(recorded, 'unreadable' in replayable ? replayable.unreadable : []),
    ...('differences' in policy ? policy.differences : []),
  ])
  const nothing = { ...stored, differences: altered, policy: null, replayed: null, evaluation: null, explanation: null }
  if (!('policy' in policy)) return nothing
  if (!decision || !('facts' in replayable)) return { ...nothing, policy: policy.policy }

  try {
    const { differences, replayed, evaluation } = replay(
      policy.policy,
      replayable.facts,
      decision as unknown as UnderwritingDecision,
    )
    const all = [...altered, ...differences, ...traceDifferences(recorded, evaluation)]
    const explanation = explainDecision(policy.policy, replayable.facts)
    return { ...stored, differences: all, policy: policy.policy, replayed, evaluation, explanation }
  } catch (error) {
    // Altered numbers may be too large to compute with; recorded ones never are.
    if (altered.length === 0) throw error
    return { ...nothing, policy: policy.policy }
  }
}

function mergedIn(facts: Record<string, unknown> | null): readonly string[] | null {
  const merged = facts?.merged
  return Array.isArray(merged) && merged.every((id) => typeof id === 'string') ? merged : null
}

function traceDifferences({ trace }: RecordedDecision, evaluation: Evaluation): Difference[] {
  const differences = jsonDifferences(jsonOf(trace), JSON.parse(canonicalJson(evaluation.trace)))
  return differences.map(({ path, before, after }) => ({ path: `/trace${path}`, recorded: before, replayed: after }))
}

/** The data of an audit entry; null if this service did not write it so, or its leaf in the log has another hash. */
function auditedValues(entry: DecisionEntry | null): AuditedValues | null {
  if (!entry?.is_authentic) return null
  return entry.sealed_hash === null || entry.sealed_hash === hashOfStored(entry) ? dataOf(entry) : null
}

/** The parts that differ from the audit entry. Compared even with an altered entry, which is itself a difference. */
function alteredParts(recorded: RecordedDecision, audited: AuditedValues | null): Difference[] {
  const { entry } = recorded
  const values = audited ?? (entry && dataOf(entry))
  const documents: [path: string, audited: unknown, stored: string | null][] = [
    ['/decision', values?.decision_sha256, recorded.body && sha256(recorded.body)],
    ['/evidence/facts', values?.facts_sha256, recorded.facts && sha256(recorded.facts)],
    ['/evidence/trace', values?.trace_sha256, recorded.trace && sha256(recorded.trace)],
    ['/evidence/graph', values?.graph_sha256, recorded.graph && sha256(recorded.graph)],
  ]
  const parts: [path: string, audited: unknown, stored: string | null][] = [
    // An entry of its own has the hash of documents without their texts.
    ...(evidenceLeft(recorded) === 'without_texts' ? [] : documents),
    ['/evidence/policy', values?.policy_checksum, recorded.policy && sha256(recorded.policy)],
    ['/columns/policy_version', values?.policy_version, recorded.policy_version],
    ['/columns/verdict', values?.verdict, recorded.verdict],
    ['/columns/entity_id', values?.entity_id, recorded.entity_id],
  ]
  const differing = (values ? parts : []).filter(([, expected, is]) => expected !== is)
  const differences = differing.map(([path, expected, is]) => ({ path, recorded: expected, replayed: is }))
  if (!audited) differences.unshift({ path: '/audit', recorded: null, replayed: entry?.id ?? null })
  return differences
}

function erasedIn(recorded: RecordedDecision): RecordedReplay['erased'] {
  const evidence = evidenceLeft(recorded)
  // The erasure of another entity is told only if it took something out of this decision.
  if (recorded.erased === null || (recorded.erased.isOthers && evidence === 'kept')) return null
  return { approvedAt: recorded.erased.approvedAt, evidence }
}

function evidenceLeft(recorded: RecordedDecision): ErasedEvidence {
  if (recorded.erased === null) return 'kept'
  if (recorded.body === null) return recorded.erased.isOthers ? 'kept' : 'gone'
  return recorded.erased.leftHashes.includes(documentsSha256(recorded)) ? 'without_texts' : 'kept'
}

/** The reference is in the decision too, which is compared with its hash: so its column is compared with the decision. */
function alteredReference({ reference }: RecordedDecision, decision: Record<string, unknown> | null): Difference[] {
  const recorded = decision?.reference ?? null
  if (decision === null || recorded === reference) return []
  return [{ path: '/columns/reference', recorded, replayed: reference }]
}

/** The parts that cannot be parsed into their recorded form. */
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

/** Parses JSON; null if it is invalid or has no canonical form, because everything is recorded in canonical form. */
function jsonOf(text: string | null): unknown {
  try {
    const value: unknown = text === null ? null : JSON.parse(text)
    canonicalJson(value)
    return value
  } catch {
    return null
  }
}
