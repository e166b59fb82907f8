import { columnsOf, type Params, type RowOf, unnestRows } from '../schema/tables.ts'
import type { AuditEntryRow, AuthenticatedEntryRow } from './record.ts'

/** Adds the MACs to an organization's new audit entries. */
export type Authenticate = (organizationId: string, entries: readonly AuditEntryRow[]) => AuthenticatedEntryRow[]

/** `INSERT` of audit entries, each with the next sequence number (`seq`) of its trail. */
export function insertAuditEntries(entries: readonly RowOf<'audit_entries'>[], params: Params): string {
  const columns = columnsOf('audit_entries')
  return `INSERT INTO audit_entries (${columns.join(', ')}, seq)
    SELECT ${columns.map((column) => `entry.${column}`).join(', ')},
      coalesce((SELECT max(seq) FROM audit_entries AS earlier WHERE earlier.org_id = entry.org_id AND earlier.trail_id = entry.trail_id), 0)
        + row_number() OVER (PARTITION BY entry.org_id, entry.trail_id ORDER BY entry.ordinality)
    FROM ${unnestRows('audit_entries', entries, params)} WITH ORDINALITY AS entry (${columns.join(', ')}, ordinality)
    RETURNING org_id, trail_id, seq, id`
}

/** `INSERT` that queues for sealing the audit entries that the step `inserted` returned. */
export function queueForSealing(inserted: string): string {
  return `INSERT INTO audit_pending (org_id, trail_id, seq, entry_id) SELECT org_id, trail_id, seq, id FROM ${inserted}`
}
