import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { LEAF_INDEX, SEALED_FLUSH } from './stored-entry.ts'

/** An entry with its sequence number on the trail, and with the index of its leaf once it is sealed. */
export type ListedAuditEntry = RowOf<'audit_entries'> & { seq: number; leaf_index: number | null }

/** The columns of an audit entry, for queries that alias its table as `entry`. */
export const ENTRY_COLUMNS = columnsOf('audit_entries')
  .map((column) => `entry.${column}`)
  .join(', ')

/** Reads of audit trails. */
export function auditTrailQueries(database: Database) {
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
        `SELECT ${ENTRY_COLUMNS}, entry.seq, ${LEAF_INDEX} FROM audit_entries AS entry
         ${SEALED_FLUSH}
         WHERE entry.org_id = $1 AND entry.trail_id = $2 AND entry.seq < $3 ORDER BY entry.seq DESC LIMIT $4`,
        [organizationId, trailId, beforeSeq ?? Number.MAX_SAFE_INTEGER, limit],
      )
    },

    /** The newest signed head of an organization's log, if it has one. */
    async newestHead(organizationId: string): Promise<RowOf<'audit_heads'> | undefined> {
      const [row] = await database.query<RowOf<'audit_heads'> & Row>(
        'SELECT * FROM audit_heads WHERE org_id = $1 ORDER BY tree_size DESC LIMIT 1',
        [organizationId],
      )
      return row
    },
  }
}
