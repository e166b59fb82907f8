import { frontierPositions, rootOfFrontier } from '../core/audit/merkle-tree.ts'
import type { LogEnd } from '../store/environment/audit-sealing.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { KnownHead } from './known-heads.ts'

/** The end of a log beside the newest head of it that this node knows. */
export interface ComparedEnd {
  end: Pick<LogEnd, 'head' | 'timeline'>
  known: KnownHead | undefined
  /** The root that the log had at the size of the known head; undefined if it is shorter, or was not asked. */
  rootAtKnown?: string | undefined
}

/** The same, where the log lacks entries of the known head. */
type ComparedBehind = ComparedEnd & { known: KnownHead }

const sizeOf = ({ end }: ComparedEnd): number => end.head?.tree_size ?? 0

/**
 * Compares ends of logs with known heads. A log that has grown beyond its head is asked for its root at that size: another node,
 * which did not know the head, may have sealed other entries in place of those that were lost. A node asks when another one has
 * sealed since. The timeline does not tell whether it is needed: a dump or older files that were restored may have the same.
 */
export async function compareEnds(
  { sealing }: { sealing: Pick<EnvironmentStore['sealing'], 'nodeHashesOf'> },
  ends: readonly LogEnd[],
  newestKnown: (organizationId: string) => KnownHead | undefined,
): Promise<(ComparedEnd & { end: LogEnd })[]> {
  const compared = ends.map((end) => ({ end, known: newestKnown(end.org_id) }))
  const positions = compared.map(({ end, known }) => {
    const isGrown = known && (end.head?.tree_size ?? 0) > known.tree_size
    return isGrown ? frontierPositions(known.tree_size).map((position) => ({ org_id: end.org_id, ...position })) : []
  })
  const asked = positions.flat()
  const hashes = asked.length > 0 ? await sealing.nodeHashesOf(asked) : []
  return compared.map(({ end, known }, n) => {
    const frontier = hashes.splice(0, positions[n]!.length)
    if (frontier.length > 0) return { end, known, rootAtKnown: rootOfFrontier(frontier) }
    return { end, known, ...(end.head?.tree_size === known?.tree_size && { rootAtKnown: end.head?.root_hash }) }
  })
}

/**
 * Whether a log lacks entries of a known head: it ends before that head, or had another root at its size. A new head over
 * such a log would contradict the known one.
 */
export function isBehind(compared: ComparedEnd): compared is ComparedBehind {
  const { known, rootAtKnown } = compared
  if (!known || known.tree_size === 0) return false
  return sizeOf(compared) < known.tree_size || (rootAtKnown !== undefined && rootAtKnown !== known.root_hash)
}

/**
 * Whether the database has lost entries of a known head. Each failover and each restore of PostgreSQL begins another
 * timeline; a log that lacks entries of a head which was written on another timeline is one of a server that never had them.
 * On the same timeline, rows were deleted, or older files put back.
 */
export function hasLostEntries(compared: ComparedEnd): compared is ComparedBehind {
  const { end, known } = compared
  return known?.timeline !== undefined && known.timeline !== end.timeline && isBehind(compared)
}

/** How many of the entries of the known head the log has at most: of one that went on with others, it may be fewer. */
export function keptAtMost(compared: ComparedBehind): number {
  return Math.min(sizeOf(compared), compared.known.tree_size - 1)
}

/** What the database has lost, in a few words. */
export function lostEntries(compared: ComparedBehind): string {
  const after = `the database lost entries after head ${keptAtMost(compared)}`
  return sizeOf(compared) < compared.known.tree_size ? after : `${after} or earlier, and went on with others`
}

/** How a log is behind a known head of its own timeline, in a few words. */
export function describeBehind({ end, known }: ComparedBehind): string {
  const size = sizeOf({ end, known })
  const head = `a head of ${known.tree_size} leaves at ${known.signed_at}`
  if (size < known.tree_size) return `has ${size} leaves, but this node signed ${head}`
  return `has other entries than when this node signed ${head}`
}

/** What is known of entries that the database has lost, in one sentence. */
export function describeLostEntries(compared: ComparedBehind): string {
  const { end, known } = compared
  return `${lostEntries(compared)}: this node knows a head of ${known.tree_size} leaves, which was signed at ${known.signed_at} and written to timeline ${known.timeline}, and the database is on timeline ${end.timeline}, as after a failover or a restore`
}

/** The command after which a log goes on without the entries that are lost. */
export const ACCEPT_LOST_ENTRIES = 'audit accept-restore --reason "…"'
