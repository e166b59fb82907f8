import type { ListedAuditEntry } from '../store/environment/audit-trail.ts'
import { dataOf } from '../store/environment/stored-entry.ts'
import type { AuditEntry } from './schemas/audit-trail.ts'

/**
 * An audit entry as the API shows it: everything that its leaf hash covers, and its place in the log. An entry that was
 * altered is shown as it is stored: readers find out by computing its hash, and the entries beside it stay readable.
 */
export function describeAuditEntry(row: ListedAuditEntry): AuditEntry {
  return {
    id: row.id,
    object: 'audit_entry',
    seq: row.seq,
    trail_id: row.trail_id,
    type: row.type,
    occurred_at: row.occurred_at,
    actor: { type: row.actor_type as AuditEntry['actor']['type'], id: row.actor_id },
    request_id: row.request_id,
    subject: { type: row.subject_type, id: row.subject_id },
    data: dataOf(row),
    leaf_hash: row.leaf_hash,
    leaf_index: row.leaf_index,
  }
}
