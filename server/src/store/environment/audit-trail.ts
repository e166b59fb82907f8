import { LRUCache } from 'lru-cache'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { LEAF, SEALED_FLUSH } from './stored-entry.ts'

/** An entry with its sequence number on the trail, and with the index and the hash of its leaf once it is sealed. */
export type ListedAuditEntry = RowOf<'audit_entries'> & {
  seq: number
  leaf_index: number | null
  sealed_hash: string | null
}

/** The columns of an audit entry, for queries that alias its table as `entry`. */
export const ENTRY_COLUMNS = columnsOf('audit_entries')
  .map((column) => `entry.${column}`)
  .join(', ')

/** For as many logs, one write to the standbys is enough for each new head that is read. */
const DURABLE_HEADS_MAX = 10_000

/** Reads of audit trails. */
export function auditTrailQueries(database: Database) {
  /** The signature of the last head of each log that is known to be durable. */
  const durableHeads = new LRUCache<string, string>({ max: DURABLE_HEADS_MAX })
  return {
    /** Entries of one trail with sequence numbers below `beforeSeq`, newest first. */
    async trail({
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
        `SELECT ${ENTRY_COLUMNS}, entry.seq, ${LEAF} FROM audit_entries AS entry
         ${SEALED_FLUSH}
         WHERE entry.org_id = $1 AND entry.trail_id = $2 AND entry.seq < $3 ORDER BY entry.seq DESC LIMIT $4`,
        [organizationId, trailId, beforeSeq ?? Number.MAX_SAFE_INTEGER, limit],
      )
    },

    /** The newest signed head of an organization's log, if it has one, once its commit is as durable as commits are here. */
    async newestHead(organizationId: string): Promise<RowOf<'audit_heads'> | undefined> {
      const read = async () => {
        const [row] = await database.query<RowOf<'audit_heads'> & Row>(
          'SELECT * FROM audit_heads WHERE org_id = $1 ORDER BY tree_size DESC LIMIT 1',
          [organizationId],
        )
        return row
      }
      const newest = await read()
      // INVARIANT: a head leaves this node only if no failover takes it away: its holder could prove that the log was changed.
      if (!newest || durableHeads.get(organizationId) === newest.signature) return newest
      const row = await database.durably(read)
      if (row) durableHeads.set(organizationId, row.signature)
      return row
    },
  }
}
