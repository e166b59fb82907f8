import type { Static } from 'typebox'
import { checkpointOf } from '../../core/audit/checkpoint.ts'
import { inclusionProof, inclusionProofPositions, verifyInclusion } from '../../core/audit/merkle-proofs.ts'
import { isHash } from '../../core/audit/merkle-tree.ts'
import type { EnvironmentStore } from '../../store/environment-store.ts'
import type { DecisionEntry } from '../../store/queries/decisions.ts'
import { replayRecorded } from '../../underwriting/replay-recorded.ts'
import { fail } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { describeAuditEntry } from '../describe-audit-entry.ts'
import { AuditEntry } from '../schemas/audit-trail.ts'
import { DecisionPath, DecisionReplay, UnderwritingDecision } from '../schemas/decision.ts'
import { compileValidation } from '../validation.ts'

const violationsOf = compileValidation(UnderwritingDecision, { pointers: 'body' })
const violationsOfEntry = compileValidation(AuditEntry, { pointers: 'body' })

/** Decides again from the stored evidence, under the policy with the recorded checksum, and compares byte for byte. */
export const replayDecision = defineEndpoint({
  operationId: 'replayDecision',
  summary: 'Replay the policy evaluation for audit',
  description:
    'Evaluates the stored facts again, under the policy with the recorded checksum, and compares the decision and its trace byte for byte. Every stored part is also compared with its hash on the audit log. `matches` is true if there is no difference; `differences` lists them. ' +
    '`audit` proves that the decision is on the signed log. Its fields are null until the entry is sealed, within five seconds; a replay of an unsealed decision hurries the sealing. `inclusion_proof` is also null, and a difference, if the stored hashes no longer lead to the signed head.',
  tag: 'Decisions',
  method: 'GET',
  path: '/v1/decisions/{decision_id}/replay',
  scope: 'decisions:read',
  params: DecisionPath,
  succeeds: { 200: DecisionReplay },
  fails: ['decision_not_found'],

  async handle({ params, caller, store, environment, now, requestSeal }) {
    const { organizationId } = caller
    const recorded = await store.recordedDecision(organizationId, params.decision_id)
    if (!recorded) return fail('decision_not_found')

    const { differences, decision, features, policy, policyChecksum, graph, replayed, evaluation } =
      replayRecorded(recorded)
    const audit = await proveEntry(store, organizationId, recorded.entry)
    if (audit.entry_id && !audit.checkpoint) requestSeal(organizationId)
    if (audit.checkpoint && !audit.inclusion_proof)
      differences.push({ path: '/audit/inclusion_proof', recorded: audit.checkpoint.root_hash, replayed: null })
    return {
      status: 200,
      body: {
        object: 'decision_replay',
        decision_id: recorded.id,
        matches: differences.length === 0,
        differences: differences.map(({ path, recorded: was, replayed: is }) => ({
          path,
          recorded: was ?? null,
          replayed: is ?? null,
        })),
        decision: violationsOf(decision).length === 0 ? (decision as Static<typeof UnderwritingDecision>) : null,
        replayed: replayed && { ...replayed },
        evidence: {
          feature_snapshot: features,
          policy_version: policy?.document.version ?? null,
          policy_checksum: policyChecksum,
          policy: policy && { ...policy.document },
          model_version: policy?.document.model_version ?? null,
          engine_version: evaluation?.trace.engine_version ?? null,
          rule_trace: (evaluation?.trace.rule_trace ?? []).map((rule) => ({ ...rule })),
          scorecard: (evaluation?.trace.scorecard ?? []).map((line) => ({ ...line })),
          limit: evaluation?.trace.limit ? { ...evaluation.trace.limit } : null,
          graph,
        },
        audit: { ...audit, log: { environment, organization_id: organizationId } },
        replayed_at: now,
      },
    }
  },
})

/** The inclusion proof of an entry under the newest signed head; null if the stored hashes do not lead to that head. */
async function proveEntry(store: EnvironmentStore, organizationId: string, entry: DecisionEntry | null) {
  const entry_id = entry?.id ?? null
  const leafIndex = entry ? await store.leafOf(organizationId, entry.id) : undefined
  const head = await store.newestHead(organizationId)
  if (!entry || leafIndex === undefined || !head || leafIndex >= head.tree_size)
    return { entry_id, entry: describe(entry, null), leaf_index: null, inclusion_proof: null, checkpoint: null }

  const leaf = { leafIndex, treeSize: head.tree_size }
  const positions = inclusionProofPositions(leaf)
  const hashes = await store.nodeHashes(organizationId, positions)
  const byPosition = new Map(positions.map(({ level, index }, n) => [`${level} ${index}`, hashes[n]!]))
  const proof = hashes.every(isHash)
    ? inclusionProof(leaf, ({ level, index }) => byPosition.get(`${level} ${index}`)!)
    : []
  const isValid = verifyInclusion({ ...leaf, leafHash: entry.leaf_hash, proof, root: head.root_hash })
  return {
    entry_id,
    entry: describe(entry, leafIndex),
    leaf_index: leafIndex,
    inclusion_proof: isValid ? proof : null,
    checkpoint: checkpointOf(head),
  }
}

/** The entry as the API shows it; null if it was altered so that it does not fit the schema. */
function describe(entry: DecisionEntry | null, leaf_index: number | null): AuditEntry | null {
  const described = entry && describeAuditEntry({ ...entry, leaf_index })
  return described && violationsOfEntry(described).length === 0 ? described : null
}
