import { type AuditEntry, leafHashOf } from '../core/audit/audit-entry.ts'
import type { NodePosition } from '../core/audit/merkle-tree.ts'
import type { StoredLeaf } from '../core/audit/stored-pairs.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import { type Database, DatabaseError, type Row } from './database.ts'
import { columnsOf, insertRows, Params, type RowOf } from './tables.ts'

/** An entry as it is listed: with its place on the trail, and with its leaf once it is sealed. */
export type ListedAuditEntry = RowOf<'audit_entries'> & { seq: number; leaf_index: number | null }

/** Everything that sealing some entries of one organization writes. */
export interface Seal {
  leaves: RowOf<'audit_leaves'>[]
  nodes: RowOf<'audit_nodes'>[]
  head: RowOf<'audit_heads'>
  event: RowOf<'events'>
}

const ENTRY_COLUMNS = columnsOf('audit_entries')
  .map((column) => `entry.${column}`)
  .join(', ')
/** Leaves that one statement of a verification reads. */
const LEAVES_PER_READ = 2_000

/** The row of an audit entry, with the hash that its leaf will have. */
export function auditEntryRow(organizationId: string, trailId: string, entry: AuditEntry): RowOf<'audit_entries'> {
  return {
    org_id: organizationId,
    id: entry.id,
    trail_id: trailId,
    type: entry.type,
    occurred_at: entry.occurred_at,
    actor_type: entry.actor.type,
    actor_id: entry.actor.id,
    request_id: entry.request_id,
    subject_type: entry.subject.type,
    subject_id: entry.subject.id,
    data: canonicalJson(entry.data),
    leaf_hash: leafHashOf(organizationId, entry),
  }
}

/** Reads and seals of the audit log. */
export function auditQueries(database: Database) {
  return {
    /** Entries of one trail, newest first, from before a place on it. */
    async auditTrail({
      organizationId,
      trailId,
      beforeSeq,
      limit,
    }: {
      organizationId: string
      trailId: string
      beforeSeq: number | undefined
      limit: number
    }): Promise<ListedAuditEntry[]> {
      return database.query<ListedAuditEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, entry.seq, leaf.leaf_index FROM audit_entries AS entry
         LEFT JOIN audit_leaves AS leaf ON leaf.org_id = entry.org_id AND leaf.entry_id = entry.id
         WHERE entry.org_id = $1 AND entry.trail_id = $2 AND entry.seq < $3 ORDER BY entry.seq DESC LIMIT $4`,
        [organizationId, trailId, beforeSeq ?? Number.MAX_SAFE_INTEGER, limit],
      )
    },

    /** The newest signed head of an organization's log. */
    async newestHead(organizationId: string): Promise<RowOf<'audit_heads'> | undefined> {
      const [row] = await database.query<RowOf<'audit_heads'> & Row>(
        'SELECT * FROM audit_heads WHERE org_id = $1 ORDER BY tree_size DESC LIMIT 1',
        [organizationId],
      )
      return row
    },

    /** All signed heads of an organization's log, smallest tree first. */
    async heads(organizationId: string): Promise<RowOf<'audit_heads'>[]> {
      return database.query<RowOf<'audit_heads'> & Row>(
        'SELECT * FROM audit_heads WHERE org_id = $1 ORDER BY tree_size',
        [organizationId],
      )
    },

    /** Organizations with entries that wait for their leaf. */
    async organizationsToSeal(): Promise<string[]> {
      const rows = await database.query<{ org_id: string }>('SELECT DISTINCT org_id FROM audit_pending')
      return rows.map((row) => row.org_id)
    },

    /** Entries of an organization that wait for their leaf, oldest first. */
    async entriesToSeal(
      organizationId: string,
      limit: number,
    ): Promise<Pick<RowOf<'audit_entries'>, 'id' | 'leaf_hash'>[]> {
      return database.query<Pick<RowOf<'audit_entries'>, 'id' | 'leaf_hash'> & Row>(
        `SELECT entry.id, entry.leaf_hash FROM audit_pending AS pending
         JOIN audit_entries AS entry ON entry.org_id = pending.org_id AND entry.id = pending.entry_id
         WHERE pending.org_id = $1 ORDER BY pending.entry_id LIMIT $2`,
        [organizationId, limit],
      )
    },

    /** The hashes of complete subtrees, in the order asked for; level 0 are the leaves. */
    async nodeHashes(organizationId: string, positions: readonly NodePosition[]): Promise<string[]> {
      if (positions.length === 0) return []
      const rows = await database.query<{ hash: string }>(
        `SELECT coalesce(node.hash, leaf.leaf_hash) AS hash
         FROM unnest($2::integer[], $3::bigint[]) WITH ORDINALITY AS wanted (level, index, place)
         LEFT JOIN audit_nodes AS node ON node.org_id = $1 AND node.level = wanted.level AND node.index = wanted.index
         LEFT JOIN audit_leaves AS leaf ON leaf.org_id = $1 AND wanted.level = 0 AND leaf.leaf_index = wanted.index
         ORDER BY wanted.place`,
        [organizationId, positions.map(({ level }) => level), positions.map(({ index }) => index)],
      )
      return rows.map((row) => row.hash)
    },

    /** Writes a seal whole; false if another sealer gave out these leaves first. */
    async seal({ leaves, nodes, head, event }: Seal): Promise<boolean> {
      const params = new Params()
      const steps = [
        `leaves AS (${insertRows('audit_leaves', leaves, params)})`,
        `nodes AS (${insertRows('audit_nodes', nodes, params)})`,
        `head AS (${insertRows('audit_heads', [head], params)})`,
        `event AS (${insertRows('events', [event], params)})`,
        `sealed AS (DELETE FROM audit_pending WHERE org_id = ${params.add(head.org_id, 'text')}
           AND entry_id = ANY(${params.add(
             leaves.map((leaf) => leaf.entry_id),
             'text[]',
           )}) RETURNING 1)`,
      ]
      const expected = params.add(leaves.length, 'bigint')
      try {
        await database.query(
          `WITH ${steps.join(', ')} SELECT require_rows((SELECT count(*) FROM sealed), ${expected}, 'audit_pending')`,
          params.values,
        )
        return true
      } catch (error) {
        if (error instanceof DatabaseError && (error.isUniqueViolation || error.code === 'VG001')) return false
        throw error
      }
    },

    /** All leaves of an organization's log with their entries, in order, a bounded number in memory at a time. */
    async *leavesWithEntries(organizationId: string): AsyncGenerator<StoredLeaf> {
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
           WHERE leaf.org_id = $1 AND leaf.leaf_index > $2 ORDER BY leaf.leaf_index LIMIT $3`,
          [organizationId, from, LEAVES_PER_READ],
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

    /** Entries that have no leaf and do not wait for one: somebody took them out of the queue. */
    async entriesNeverSealed(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ id: string }>(
        `SELECT id FROM audit_entries AS entry WHERE org_id = $1
           AND NOT EXISTS (SELECT 1 FROM audit_leaves AS leaf WHERE leaf.org_id = $1 AND leaf.entry_id = entry.id)
           AND NOT EXISTS (SELECT 1 FROM audit_pending AS pending WHERE pending.org_id = $1 AND pending.entry_id = entry.id)
         ORDER BY id LIMIT 1000`,
        [organizationId],
      )
      return rows.map((row) => row.id)
    },
  }
}

/** The entry that a row holds; null when it is gone. Text that is no longer JSON is kept as it is, so that its hash differs. */
function entryOf(row: RowOf<'audit_entries'> & { entry_id: string }): AuditEntry | null {
  if (row.id === null) return null
  return {
    id: row.id,
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
