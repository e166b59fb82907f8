import type { StoredLeaf } from '../../core/audit/stored-pairs.ts'
import type { LogPage } from '../../core/audit/verify-log.ts'
import type { Database, Row } from '../database/database.ts'
import type { RowOf } from '../schema/tables.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { entryOf } from './stored-entry.ts'

/**
 * The most leaves or entries that one statement of a verification reads. The embedded database has one connection, so
 * requests wait for such a statement. It also has no statistics, so each page looks its other rows up with `LATERAL …
 * LIMIT 1`: with joins the planner read the whole log for each page (200 of 3,000 leaves: 213 ms, now 47 ms, machine busy).
 */
const ROWS_PER_READ = 100
const HASHES_PER_READ = 250

/** A leaf as it is stored, with the copy of its hash that its entry has. */
export type VerifiedLeaf = StoredLeaf & { entryHash: string | null }

/** An entry on its trail, with its leaf if it is sealed; `is_queued` says that it waits for the sealer. */
export type EntryOnTrail = RowOf<'audit_entries'> & {
  seq: number
  leaf_index: number | null
  sealed_hash: string | null
  is_queued: boolean
}

/** The reads of a verification of the audit log, each in pages: memory is bounded, and requests get their turn. */
export function auditVerificationQueries(database: Database) {
  return {
    /**
     * The size of the log in one snapshot. Leaves and heads are written together, so both end at this size unless rows
     * were tampered with.
     */
    async logSize(organizationId: string): Promise<number> {
      const [row] = await database.query<{ size: number | null }>(
        `SELECT greatest((SELECT max(tree_size) FROM audit_heads WHERE org_id = $1), (SELECT max(leaf_index) + 1 FROM audit_leaves WHERE org_id = $1)) AS size`,
        [organizationId],
      )
      return row?.size ?? 0
    },

    /** The leaves of an organization's log up to a size, with their entries and the heads over them. */
    async *pages(
      organizationId: string,
      sizeMax: number,
    ): AsyncGenerator<LogPage & { leaves: readonly VerifiedLeaf[] }> {
      // From the lowest number that is read exactly, because SQL can drop the check that no index is negative.
      let headAfter = Number.MIN_SAFE_INTEGER
      for (let from = Number.MIN_SAFE_INTEGER; ; ) {
        const leaves = await readLeaves(database, { organizationId, from, sizeMax })
        const isLast = leaves.length < ROWS_PER_READ
        const headMax = isLast ? sizeMax : leaves.at(-1)!.leafIndex + 1
        let heads = await readHeads(database, { organizationId, after: headAfter, sizeMax: headMax })
        yield { leaves, heads }
        // More heads than leaves: the log was cut off, or heads were inserted.
        while (heads.length === ROWS_PER_READ) {
          heads = await readHeads(database, { organizationId, after: heads.at(-1)!.tree_size, sizeMax: headMax })
          yield { leaves: [], heads }
        }
        if (isLast) return
        headAfter = headMax
        from = leaves.at(-1)!.leafIndex
      }
    },

    /** All entries of an organization, sealed or not, in the order of their trails. */
    async *entriesByTrail(organizationId: string): AsyncGenerator<EntryOnTrail[]> {
      let [trail, seq]: [string, number] = ['', -1]
      for (;;) {
        const rows = await database.query<EntryOnTrail & Row>(
          `WITH entry AS MATERIALIZED (SELECT * FROM audit_entries WHERE org_id = $1 AND (trail_id, seq) > ($2, $3) ORDER BY trail_id, seq LIMIT $4)
           SELECT ${ENTRY_COLUMNS}, entry.seq, leaf.leaf_index, leaf.leaf_hash AS sealed_hash, pending.entry_id IS NOT NULL AS is_queued
           FROM entry
           LEFT JOIN LATERAL (SELECT leaf_index, leaf_hash FROM audit_leaves WHERE org_id = $1 AND entry_id = entry.id LIMIT 1) AS leaf ON true
           LEFT JOIN LATERAL (SELECT entry_id FROM audit_pending WHERE org_id = $1 AND trail_id = entry.trail_id
             AND seq = entry.seq AND entry_id = entry.id LIMIT 1) AS pending ON true
           ORDER BY entry.trail_id, entry.seq`,
          [organizationId, trail, seq, ROWS_PER_READ],
        )
        yield rows
        if (rows.length < ROWS_PER_READ) return
        ;({ trail_id: trail, seq } = rows.at(-1)!)
      }
    },

    /** Ids of entries that wait for the sealer according to `audit_pending`, but do not exist. */
    async queuedWithoutEntry(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ entry_id: string }>(
        `SELECT pending.entry_id FROM audit_pending AS pending
         LEFT JOIN audit_entries AS entry ON entry.org_id = pending.org_id AND entry.trail_id = pending.trail_id
           AND entry.seq = pending.seq AND entry.id = pending.entry_id
         WHERE pending.org_id = $1 AND entry.id IS NULL ORDER BY pending.entry_id LIMIT 100`,
        [organizationId],
      )
      return rows.map((row) => row.entry_id)
    },

    /** A batch of leaf hashes from the index `from` on, up to a size. */
    async leafHashes(organizationId: string, from: number, sizeMax: number): Promise<string[]> {
      const rows = await database.query<{ leaf_hash: string }>(
        'SELECT leaf_hash FROM audit_leaves WHERE org_id = $1 AND leaf_index >= $2 AND leaf_index < $3 ORDER BY leaf_index LIMIT $4',
        [organizationId, from, sizeMax, HASHES_PER_READ],
      )
      return rows.map((row) => row.leaf_hash)
    },
  }
}

async function readLeaves(
  database: Database,
  { organizationId, from, sizeMax }: { organizationId: string; from: number; sizeMax: number },
): Promise<VerifiedLeaf[]> {
  const rows = await database.query<
    Row &
      RowOf<'audit_entries'> & { leaf_index: number; entry_id: string; sealed_hash: string; pair_hash: string | null }
  >(
    `WITH leaf AS MATERIALIZED (SELECT * FROM audit_leaves WHERE org_id = $1 AND leaf_index > $2 AND leaf_index < $3 ORDER BY leaf_index LIMIT $4)
     SELECT leaf.leaf_index, leaf.entry_id, leaf.leaf_hash AS sealed_hash, pair.hash AS pair_hash, ${ENTRY_COLUMNS}
     FROM leaf
     LEFT JOIN LATERAL (SELECT * FROM audit_entries WHERE org_id = $1 AND id = leaf.entry_id LIMIT 1) AS entry ON true
     LEFT JOIN LATERAL (SELECT hash FROM audit_nodes WHERE org_id = $1 AND level = 1 AND index = leaf.leaf_index / 2 LIMIT 1) AS pair ON true
     ORDER BY leaf.leaf_index`,
    [organizationId, from, sizeMax, ROWS_PER_READ],
  )
  return rows.map((row) => ({
    leafIndex: row.leaf_index,
    entryId: row.entry_id,
    leafHash: row.sealed_hash,
    entry: row.id === null ? null : entryOf(row),
    entryHash: row.leaf_hash,
    pairHash: row.pair_hash,
  }))
}

async function readHeads(
  database: Database,
  { organizationId, after, sizeMax }: { organizationId: string; after: number; sizeMax: number },
): Promise<RowOf<'audit_heads'>[]> {
  return database.query<RowOf<'audit_heads'> & Row>(
    'SELECT * FROM audit_heads WHERE org_id = $1 AND tree_size > $2 AND tree_size <= $3 ORDER BY tree_size LIMIT $4',
    [organizationId, after, sizeMax, ROWS_PER_READ],
  )
}
