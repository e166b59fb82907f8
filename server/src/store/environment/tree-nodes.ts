import { isHash, type NodePosition, rootOf, storedPartsOf, storedRunsOf } from '../../core/audit/merkle-tree.ts'
import type { Database, Row } from '../database/database.ts'

/** A complete subtree of the tree of one organization. */
export type PositionInLog = NodePosition & { org_id: string }

/** Hashes of one stored level that stand one after another, from the index `first` on, in hexadecimal. */
export interface HashPiece {
  first: number
  hashes: string
}

const HASH_DIGITS = 64

/** SQL: which leaves of which log are wanted, as expressions: `first` up to, but not including, `end`. */
interface WantedLeaves {
  org: string
  first: string
  end: string
}

/** Bounds an offset into a list where leaves are missing before the wanted ones, so that it stays an integer. */
const LEAVES_OF_LIST_MAX = 1_000_000

/**
 * SQL: the wanted leaves as `HashPiece` rows, one for each list that has some. It reads only those lists, along one
 * index: all that begin within the span, and the last one before it. It ends with its conditions, so more can follow.
 */
export function leafPieces({ org, first, end }: WantedLeaves): string {
  const offset = `least(greatest(${first} - list.first_leaf, 0), ${LEAVES_OF_LIST_MAX})::integer`
  return `SELECT greatest(list.first_leaf, ${first}) AS first,
      encode(substring(list.leaf_hashes FROM ${offset} * 32 + 1 FOR greatest(${end} - ${first}, 0)::integer * 32), 'hex') AS hashes
    FROM audit_flushes AS list WHERE list.org_id = ${org} AND list.first_leaf < ${end} AND list.first_leaf >= coalesce((
      SELECT each.first_leaf FROM audit_flushes AS each WHERE each.org_id = ${org} AND each.first_leaf <= ${first}
      ORDER BY each.first_leaf DESC LIMIT 1), 0)`
}

/** The hashes from `first` up to `end` in pieces that are in the order of their index; '' for one that is missing. */
export function hashesOfPieces(pieces: readonly HashPiece[], { first, end }: { first: number; end: number }): string[] {
  const found = Array.from({ length: end - first }, () => '')
  for (const [n, piece] of pieces.entries()) {
    // INVARIANT: an index belongs to the last piece that begins at or before it, however long the pieces before are: a
    // list that SQL inserted among the leaves of another one takes their place, and the tree does not match any more.
    const until = Math.min(pieces[n + 1]?.first ?? end, end)
    for (let index = piece.first; index < until; index++) {
      const at = (index - piece.first) * HASH_DIGITS
      found[index - first] = piece.hashes.slice(at, at + HASH_DIGITS)
    }
  }
  return found
}

/**
 * Reads the hashes of complete subtrees, in the order of `positions`; level 0 are the leaves. Levels that are not stored
 * are computed from the one below. '' stands for a hash that is missing, or of which a part is.
 */
export async function readNodeHashes(database: Database, positions: readonly PositionInLog[]): Promise<string[]> {
  if (positions.length === 0) return []
  const runs = [...Map.groupBy(positions, ({ org_id }) => org_id)].flatMap(([org_id, ofLog]) =>
    storedRunsOf(ofLog).map((run) => ({ org_id, ...run })),
  )
  const rows = await database.query<HashPiece & Row & { run: number }>(
    `SELECT wanted.run, found.first, found.hashes
     FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS wanted (org_id, level, first, until, run)
     CROSS JOIN LATERAL (
       SELECT node.index AS first, encode(node.hash, 'hex') AS hashes FROM audit_nodes AS node WHERE wanted.level > 0
         AND node.org_id = wanted.org_id AND node.level = wanted.level AND node.index >= wanted.first AND node.index < wanted.until
         AND octet_length(node.hash) = 32
       UNION ALL
       (${leafPieces({ org: 'wanted.org_id', first: 'wanted.first', end: 'wanted.until' })} AND wanted.level = 0)
     ) AS found
     ORDER BY wanted.run, found.first`,
    [
      runs.map(({ org_id }) => org_id),
      runs.map(({ level }) => level),
      runs.map(({ first }) => first),
      runs.map(({ end }) => end),
    ],
  )
  const pieces = Map.groupBy(rows, ({ run }) => run)
  const stored = new Map<string, string>()
  for (const [n, run] of runs.entries())
    for (const [offset, hash] of hashesOfPieces(pieces.get(n + 1) ?? [], run).entries())
      stored.set(`${run.org_id} ${run.level} ${run.first + offset}`, hash)
  return positions.map((position) => {
    const { level, first, end } = storedPartsOf(position)
    const parts = Array.from(
      { length: end - first },
      (_, offset) => stored.get(`${position.org_id} ${level} ${first + offset}`)!,
    )
    return parts.every(isHash) ? rootOf(parts) : ''
  })
}
