import type { AuditEntry } from '../../core/audit/audit-entry.ts'
import type { StoredLeaf } from '../../core/audit/stored-pairs.ts'
import type { Database, Row } from '../database/database.ts'
import type { RowOf } from '../schema/tables.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'

/** The most leaves that one statement of a verification reads. */
const LEAVES_PER_READ = 2_000

/** The reads of a verification of the audit log. */
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

    /** The signed heads of an organization's log up to a size, smallest tree first. */
    async heads(organizationId: string, sizeMax: number): Promise<RowOf<'audit_heads'>[]> {
      return database.query<RowOf<'audit_heads'> & Row>(
        'SELECT * FROM audit_heads WHERE org_id = $1 AND tree_size <= $2 ORDER BY tree_size',
        [organizationId, sizeMax],
      )
    },

    /** The leaves of an organization's log up to a size, in order and with their entries, read in batches. */
    async *leavesWithEntries(organizationId: string, sizeMax: number): AsyncGenerator<StoredLeaf> {
      for (let from = -1; ; ) {
        const rows = await database.query<
          Row &
            RowOf<'audit_entries'> & {
              leaf_index: number
              entry_id: string
              sealed_hash: string
              pair_hash: string | null
            }
        >(
          `SELECT leaf.leaf_index, leaf.entry_id, leaf.leaf_hash AS sealed_hash, pair.hash AS pair_hash, ${ENTRY_COLUMNS}
           FROM audit_leaves AS leaf
           LEFT JOIN audit_entries AS entry ON entry.org_id = leaf.org_id AND entry.id = leaf.entry_id
           LEFT JOIN audit_nodes AS pair ON pair.org_id = leaf.org_id AND pair.level = 1 AND pair.index = leaf.leaf_index / 2
           WHERE leaf.org_id = $1 AND leaf.leaf_index > $2 AND leaf.leaf_index < $3 ORDER BY leaf.leaf_index LIMIT $4`,
          [organizationId, from, sizeMax, LEAVES_PER_READ],
        )
        for (const row of rows) {
          yield {
            leafIndex: row.leaf_index,
            entryId: row.entry_id,
            leafHash: row.sealed_hash,
            entry: entryOf(row),
            pairHash: row.pair_hash,
          }
        }
        if (rows.length < LEAVES_PER_READ) return
        from = rows.at(-1)!.leaf_index
      }
    },

    /** Entries without a leaf that are not pending either: they were removed from `audit_pending`. */
    async entriesNeverSealed(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ id: string }>(
        `SELECT id FROM audit_entries AS entry WHERE org_id = $1
           AND NOT EXISTS (SELECT 1 FROM audit_leaves AS leaf WHERE leaf.org_id = $1 AND leaf.entry_id = entry.id)
           AND NOT EXISTS (SELECT 1 FROM audit_pending AS pending WHERE pending.org_id = $1
             AND pending.trail_id = entry.trail_id AND pending.seq = entry.seq AND pending.entry_id = entry.id)
         ORDER BY id LIMIT 1000`,
        [organizationId],
      )
      return rows.map((row) => row.id)
    },

    /** Trails whose sequence numbers are not 1, 2, 3 … or whose leaves are in another order. */
    async brokenTrails(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ trail_id: string }>(
        `SELECT DISTINCT trail_id FROM (
           SELECT entry.trail_id, entry.seq, leaf.leaf_index,
             row_number() OVER trail AS expected_seq, lag(leaf.leaf_index) OVER trail AS leaf_before, lag(entry.seq) OVER trail IS NOT NULL AS has_before
           FROM audit_entries AS entry LEFT JOIN audit_leaves AS leaf ON leaf.org_id = entry.org_id AND leaf.entry_id = entry.id
           WHERE entry.org_id = $1 WINDOW trail AS (PARTITION BY entry.trail_id ORDER BY entry.seq)
         ) AS numbered
         WHERE seq <> expected_seq OR leaf_before >= leaf_index OR (has_before AND leaf_before IS NULL AND leaf_index IS NOT NULL)
         ORDER BY trail_id LIMIT 1000`,
        [organizationId],
      )
      return rows.map((row) => row.trail_id)
    },

    /** Entries whose copy of the leaf hash, which audit trails show, differs from the sealed leaf. */
    async entriesWithAnotherHash(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ id: string }>(
        `SELECT entry.id FROM audit_entries AS entry JOIN audit_leaves AS leaf ON leaf.org_id = entry.org_id AND leaf.entry_id = entry.id
         WHERE entry.org_id = $1 AND entry.leaf_hash <> leaf.leaf_hash ORDER BY entry.id LIMIT 1000`,
        [organizationId],
      )
      return rows.map((row) => row.id)
    },

    /** A batch of leaf hashes from the index `from` on, up to a size. */
    async leafHashes(organizationId: string, from: number, sizeMax: number): Promise<string[]> {
      const rows = await database.query<{ leaf_hash: string }>(
        'SELECT leaf_hash FROM audit_leaves WHERE org_id = $1 AND leaf_index >= $2 AND leaf_index < $3 ORDER BY leaf_index LIMIT $4',
        [organizationId, from, sizeMax, LEAVES_PER_READ],
      )
      return rows.map((row) => row.leaf_hash)
    },
  }
}

/** The entry of a row; null if it was deleted. Data that is no longer JSON is kept as text, so that its hash differs. */
function entryOf(row: RowOf<'audit_entries'> & { entry_id: string }): AuditEntry | null {
  if (row.id === null) return null
  return {
    id: row.id,
    trail_id: row.trail_id,
    type: row.type,
    occurred_at: row.occurred_at,
    actor: { type: row.actor_type as AuditEntry['actor']['type'], id: row.actor_id },
    request_id: row.request_id,
    subject: { type: row.subject_type, id: row.subject_id },
    data: parsedOrRaw(row.data),
  }
}

function parsedOrRaw(text: string): AuditEntry['data'] {
  try {
    return JSON.parse(text)
  } catch {
    return { unreadable: text }
  }
}
