import type { KeyObject } from 'node:crypto'
import type { Environment } from '../config.ts'
import type { Checkpoint } from '../core/audit/checkpoint.ts'
import { describeProblem, type LogFigures } from '../core/audit/log-report.ts'
import { appendLeaves, type NodePosition } from '../core/audit/merkle-tree.ts'
import { verifyLog } from '../core/audit/verify-log.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'

/** Limits a report on a tree in which most nodes were forged. */
const ALTERED_NODES_REPORTED_MAX = 100

/** The result of verifying one organization's log in one environment. */
export interface LogVerification {
  organization_id: string
  environment: Environment
  intact: boolean
  leaves: number
  heads_verified: number
  root_hash: LogFigures['rootHash']
  problems: string[]
}

/** Verifies from the stored rows alone that no entry of a log was edited, removed or reordered, or reports which ones were. */
export async function verifyAuditLog({
  organizationId,
  environment,
  store,
  publicKeys,
  pinnedHead,
}: {
  organizationId: string
  environment: Environment
  store: EnvironmentStore
  publicKeys: readonly KeyObject[]
  /** A head that was stored outside this installation, for example from an `audit.checkpoint` event. */
  pinnedHead?: Checkpoint
}): Promise<LogVerification> {
  const size = await store.logSize(organizationId)
  const report = await verifyLog({
    organizationId,
    environment,
    heads: await store.heads(organizationId, size),
    leaves: store.leavesWithEntries(organizationId, size),
    publicKeys,
    ...(pinnedHead && { pinnedHead }),
  })
  const brokenTrails = await store.brokenTrails(organizationId)
  const neverSealed = await store.entriesNeverSealed(organizationId)
  const otherHashes = await store.entriesWithAnotherHash(organizationId)
  // If leaves were altered, the nodes over them differ too, which adds nothing to the report.
  const alteredNodes = report.status === 'intact' ? await findAlteredNodes(store, organizationId, size) : []
  const problems = [
    ...(report.status === 'tampered' ? report.problems.map(describeProblem) : []),
    ...(report.status === 'tampered' && report.problemsOmitted > 0 ? [`… and ${report.problemsOmitted} more.`] : []),
    ...brokenTrails.map(
      (trail) => `The sequence numbers on the trail of ${trail} are not 1, 2, 3 … in the order of sealing.`,
    ),
    ...otherHashes.map((id) => `Entry ${id} has another hash than its leaf.`),
    ...alteredNodes.map(
      ({ level, index }) =>
        `The stored node over leaves ${index * 2 ** level} to ${(index + 1) * 2 ** level - 1} is not the hash of these leaves.`,
    ),
    ...neverSealed.map((id) => `Entry ${id} was never sealed: it was removed from audit_pending.`),
  ]
  return {
    organization_id: organizationId,
    environment,
    intact: problems.length === 0,
    leaves: report.figures.leaves,
    heads_verified: report.figures.headsVerified,
    root_hash: report.figures.rootHash,
    problems,
  }
}

/** Rebuilds the tree from its leaves and compares every stored node, because inclusion proofs are made of stored nodes. */
async function findAlteredNodes(
  store: EnvironmentStore,
  organizationId: string,
  size: number,
): Promise<NodePosition[]> {
  const altered: NodePosition[] = []
  let tree: { size: number; frontier: readonly string[] } = { size: 0, frontier: [] }
  while (tree.size < size) {
    const leaves = await store.leafHashes(organizationId, tree.size, size)
    const grown = appendLeaves({ ...tree, leaves })
    const stored = await store.nodeHashes(organizationId, grown.nodes)
    altered.push(...grown.nodes.filter(({ hash }, position) => stored[position] !== hash))
    tree = grown
  }
  return altered.slice(0, ALTERED_NODES_REPORTED_MAX)
}
