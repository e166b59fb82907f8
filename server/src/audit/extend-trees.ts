import type { Environment } from '../config.ts'
import { signCheckpoint, verifyCheckpoint } from '../core/audit/checkpoint.ts'
import { appendLeaves, frontierPositions, hashesIn, rootOfFrontier } from '../core/audit/merkle-tree.ts'
import type { SealingKeys } from '../security/master-key.ts'
import type { FlushToSeal, LogEnd, Seal } from '../store/environment/audit-sealing.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { KnownHeads } from './known-heads.ts'
import {
  ACCEPT_LOST_ENTRIES,
  type ComparedEnd,
  compareEnds,
  describeBehind,
  describeLostEntries,
  hasLostEntries,
  isBehind,
} from './lost-entries.ts'

/** Entries to append to one organization's tree, by the statements that wrote them. */
export interface TreeToExtend {
  organizationId: string
  flushes: readonly FlushToSeal[]
}

/** What extending trees needs. */
export interface ExtendParts {
  environment: Environment
  store: { sealing: Pick<EnvironmentStore['sealing'], 'logEnds' | 'nodeHashesOf'> }
  keys: SealingKeys
  knownHeads: Pick<KnownHeads, 'newest' | 'readAppended'>
  nowMs: () => number
}

/** Appends entries to their trees and signs the new heads; for a tree that must not be extended, an error by its organization. */
export async function extendTrees(
  trees: readonly TreeToExtend[],
  parts: ExtendParts,
): Promise<{ seals: (Seal & Pick<LogEnd, 'announced_at'>)[]; errors: Map<string, Error> }> {
  if (trees.length === 0) return { seals: [], errors: new Map() }
  const { store } = parts
  const ends = await store.sealing.logEnds(trees.map(({ organizationId }) => organizationId))
  const positions = ends.map(({ org_id, head }) =>
    frontierPositions(head?.tree_size ?? 0).map((position) => ({ org_id, ...position })),
  )
  const hashes = await store.sealing.nodeHashesOf(positions.flat())
  // An operator may have accepted a restored backup, with a command that ran in another process. Read once for the
  // group: after a restore every log may be behind.
  const compare = () => compareEnds(store, ends, (id) => parts.knownHeads.newest(id))
  let compared = await compare()
  if (compared.some(isBehind)) {
    parts.knownHeads.readAppended()
    compared = await compare()
  }
  const seals: (Seal & Pick<LogEnd, 'announced_at'>)[] = []
  const errors = new Map<string, Error>()
  for (const [n, tree] of trees.entries()) {
    const frontier = hashes.splice(0, positions[n]!.length)
    const problem = problemOf({ ...ends[n]!, frontier }, compared[n]!, parts)
    if (problem === undefined) seals.push(extend(tree, { ...ends[n]!, frontier }, parts))
    else errors.set(tree.organizationId, new Error(problem))
  }
  return { seals, errors }
}

/** Why a tree must not be extended. Signing over altered rows would make the alteration verifiable. */
function problemOf(
  { frontier, org_id: organizationId, head, leaves }: LogEnd & { frontier: readonly string[] },
  compared: ComparedEnd,
  { environment, keys }: ExtendParts,
): string | undefined {
  const size = head?.tree_size ?? 0
  // INVARIANT: a new head extends the last one, which this installation signed. With the tree alone, leaves that were
  // inserted with SQL, together with their nodes and a head, would be signed.
  if (head && !keys.heads.some((key) => verifyCheckpoint({ environment, organizationId }, head, key)))
    return `the last head of ${organizationId} has no valid signature, nothing was sealed: run audit verify`
  // The last entries, put back among those that wait, would get leaves a second time.
  if (leaves !== size)
    return `the leaves of ${organizationId} end at ${leaves}, but its last signed head covers ${size}, nothing was sealed: run audit verify`
  if (head && rootOfFrontier(frontier) !== head.root_hash)
    return `the stored tree of ${organizationId} does not match its last signed head, nothing was sealed: run audit verify`
  if (hasLostEntries(compared))
    return `of the log of ${organizationId}, ${describeLostEntries(compared)}: nothing was sealed, run ${ACCEPT_LOST_ENTRIES}`
  if (isBehind(compared))
    return `the log of ${organizationId} ${describeBehind(compared)}, nothing was sealed: run audit verify, and after restoring a backup audit accept-restore`
  return undefined
}

function extend(
  { organizationId, flushes }: TreeToExtend,
  { head: last, announced_at, frontier }: LogEnd & { frontier: readonly string[] },
  { environment, keys, nowMs }: ExtendParts,
): Seal & Pick<LogEnd, 'announced_at'> {
  const size = last?.tree_size ?? 0
  const leaves: string[] = []
  const sealed = flushes.map(({ flush, leaf_hashes }) => {
    const first_leaf = size + leaves.length
    leaves.push(...hashesIn(leaf_hashes))
    return { flush, first_leaf }
  })
  const grown = appendLeaves({ size, frontier, leaves })
  return {
    organizationId,
    sealed,
    nodes: grown.nodes,
    head: signCheckpoint(
      { environment, organizationId },
      { tree_size: grown.size, root_hash: grown.root, signed_at: new Date(nowMs()).toISOString() },
      keys.signing.privateKey,
    ),
    announced_at,
  }
}
