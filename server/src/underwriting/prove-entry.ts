import { type Checkpoint, checkpointOf } from '../core/audit/checkpoint.ts'
import { inclusionProof, inclusionProofPositions, verifyInclusion } from '../core/audit/merkle-proofs.ts'
import { isHash } from '../core/audit/merkle-tree.ts'
import type { DecisionEntry } from '../store/environment/decisions.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { hashOfStored } from '../store/environment/stored-entry.ts'

/** Where an entry is in the log, and what leads from its leaf to the newest signed head. */
export interface EntryProof {
  leafIndex: number
  checkpoint: Checkpoint
  /** The hashes beside the path from the leaf to the root, as they are stored; null if one is missing or malformed. */
  proof: string[] | null
  /** Whether the stored hashes lead from the leaf hash of the entry to the root of the head. */
  isValid: boolean
}

/** Reads the inclusion proof of an entry under the newest signed head; null if the entry is not sealed yet. */
export async function proveEntry(
  store: EnvironmentStore,
  organizationId: string,
  entry: DecisionEntry | null,
): Promise<EntryProof | null> {
  const leafIndex = entry ? await store.decisions.leaf(organizationId, entry.id) : undefined
  const head = await store.auditLog.newestHead(organizationId)
  if (!entry || leafIndex === undefined || !head || leafIndex >= head.tree_size) return null
  const leaf = { leafIndex, treeSize: head.tree_size }
  const positions = inclusionProofPositions(leaf)
  const hashes = await store.sealing.nodeHashes(organizationId, positions)
  const byPosition = new Map(positions.map(({ level, index }, n) => [`${level} ${index}`, hashes[n]!]))
  const proof = hashes.every(isHash)
    ? inclusionProof(leaf, ({ level, index }) => byPosition.get(`${level} ${index}`)!)
    : null
  const isValid = verifyInclusion({
    ...leaf,
    leafHash: hashOfStored(entry) ?? '',
    proof: proof ?? [],
    root: head.root_hash,
  })
  return { leafIndex, checkpoint: checkpointOf(head), proof, isValid }
}
