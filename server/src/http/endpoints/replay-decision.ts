import { inclusionProof, inclusionProofPositions } from '../../core/audit/merkle-proofs.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { UnderwritingDecision } from '../../core/decide/describe-decision.ts'
import { replay } from '../../core/decide/replay.ts'
import type { Facts } from '../../core/facts/facts.ts'
import { jsonDifferences } from '../../core/policy/json-differences.ts'
import type { EnvironmentStore } from '../../store/environment-store.ts'
import { fail } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { DecisionPath, DecisionReplay } from '../schemas/decision.ts'

/** Decides again from the stored evidence under the policy of that checksum, and compares to the byte. */
export const replayDecision = defineEndpoint({
  operationId: 'replayDecision',
  summary: 'Replay the policy evaluation for audit',
  description:
    'Really evaluates again: the stored facts under the policy with the recorded checksum. `matches` says whether the decision and its trace came out the same to the byte; `differences` says where not. ' +
    '`audit` proves that the decision is on the signed log; its members are null until the entry is sealed, within a second.',
  tag: 'Decisions',
  method: 'GET',
  path: '/v1/decisions/{decision_id}/replay',
  scope: 'decisions:read',
  params: DecisionPath,
  succeeds: { 200: DecisionReplay },
  fails: ['decision_not_found'],

  async handle({ params, caller, store, policies, now }) {
    const { organizationId } = caller
    const recorded = await store.recordedDecision(organizationId, params.decision_id)
    const policy = recorded && (await policies.byChecksum(organizationId, recorded.policy_checksum))
    if (!recorded || !policy) return fail('decision_not_found')

    const decision = JSON.parse(recorded.body) as UnderwritingDecision
    const facts = JSON.parse(recorded.facts) as Facts
    const { differences, replayed, outcome } = replay(policy, facts, decision)
    const trace = jsonDifferences(JSON.parse(recorded.trace), outcome.trace).map(({ path, before, after }) => ({
      path: `/trace${path}`,
      recorded: before,
      replayed: after,
    }))
    const allDifferences = [...differences, ...trace].map(({ path, recorded: was, replayed: is }) => ({
      path,
      recorded: was ?? null,
      replayed: is ?? null,
    }))
    const bytesMatch = canonicalJson(replayed) === recorded.body && canonicalJson(outcome.trace) === recorded.trace
    return {
      status: 200,
      body: {
        object: 'decision_replay',
        decision_id: recorded.id,
        matches: bytesMatch && allDifferences.length === 0,
        differences: allDifferences,
        decision,
        replayed: { ...replayed },
        evidence: {
          feature_snapshot: facts.features,
          policy_version: policy.document.version,
          policy_checksum: policy.checksum,
          policy: { ...policy.document },
          model_version: policy.document.model_version,
          engine_version: outcome.trace.engine_version,
          rule_trace: outcome.trace.rule_trace.map((rule) => ({ ...rule })),
          scorecard: outcome.trace.scorecard.map((line) => ({ ...line })),
          limit: outcome.trace.limit && { ...outcome.trace.limit },
          graph: JSON.parse(recorded.graph),
        },
        audit: await proveEntry(store, organizationId, recorded.audit_entry_id),
        replayed_at: now,
      },
    }
  },
})

async function proveEntry(store: EnvironmentStore, organizationId: string, entryId: string) {
  const leafIndex = await store.leafOf(organizationId, entryId)
  const head = await store.newestHead(organizationId)
  if (leafIndex === undefined || !head || leafIndex >= head.tree_size)
    return { entry_id: entryId, leaf_index: null, inclusion_proof: null, checkpoint: null }

  const claim = { leafIndex, treeSize: head.tree_size }
  const positions = inclusionProofPositions(claim)
  const hashes = await store.nodeHashes(organizationId, positions)
  const byPosition = new Map(positions.map(({ level, index }, place) => [`${level} ${index}`, hashes[place]!]))
  const { tree_size, root_hash, signed_at, key_id, signature } = head
  return {
    entry_id: entryId,
    leaf_index: leafIndex,
    inclusion_proof: inclusionProof(claim, ({ level, index }) => byPosition.get(`${level} ${index}`)!),
    checkpoint: { tree_size, root_hash, signed_at, key_id, signature },
  }
}
