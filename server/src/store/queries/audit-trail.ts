import { type AuditEntry, leafHashOf } from '../../core/audit/audit-entry.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'

/** An entry as it is listed: with its place on the trail, and with its leaf once it is sealed. */
export type ListedAuditEntry = RowOf<'audit_entries'> & { seq: number; leaf_index: number | null }

/** The columns of an entry, for queries that call it `entry`. */
export const ENTRY_COLUMNS = columnsOf('audit_entries')
  .map((column) => `entry.${column}`)
  .join(', ')
/** The row of an audit entry, with the hash that its leaf will have. */
export function auditEntryRow(organizationId: string, entry: AuditEntry): RowOf<'audit_entries'> {
  return {
    org_id: organizationId,
    id: entry.id,
    trail_id: entry.trail_id,
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

/** Reads of audit trails. */
export function auditTrailQueries(database: Database) {
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
  }
}
