import type { ListedAuditEntry } from '../store/environment/audit-trail.ts'
import { entryOf, leafHashOfListed } from '../store/environment/stored-entry.ts'
import type { AuditEntry } from './schemas/audit-trail.ts'

/**
 * An audit entry as the API shows it: everything that its leaf hash covers, and its place in the log. An entry that was
 * altered is shown as it is stored: readers find out by computing its hash, and the entries beside it stay readable.
 */
export function describeAuditEntry(row: ListedAuditEntry): AuditEntry {
  return {
    object: 'audit_entry',
    seq: row.seq,
    ...entryOf(row),
    leaf_hash: leafHashOfListed(row),
    leaf_index: row.leaf_index,
  }
}
