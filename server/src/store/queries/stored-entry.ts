import { type AuditEntry, leafHashOf } from '../../core/audit/audit-entry.ts'
import { type HmacKeys, hasValidMac } from '../../core/audit/entry-mac.ts'
import { isObject } from '../../core/decide/replayable-facts.ts'
import type { RowOf } from '../schema/tables.ts'

/** An entry with the hash of its leaf; null while it is not sealed. */
export type StoredEntry = RowOf<'audit_entries'> & { sealed_hash: string | null }

/** Whether this service wrote an entry, with exactly the content that is stored now. */
export type IsAuthentic = (entry: StoredEntry) => boolean

/**
 * Creates the check of stored entries: their content has their leaf hash, and the hash has their MAC. A MAC of a retired
 * master key counts only for an entry that was sealed: a thief of the key could write others for ever.
 */
export function createIsAuthentic([current, ...retired]: HmacKeys): IsAuthentic {
  return (row) =>
    hashOfStored(row) === row.leaf_hash &&
    (hasValidMac([current], row) || (row.sealed_hash === row.leaf_hash && hasValidMac(retired, row)))
}

/** SQL: the hash of an entry's leaf within the signed tree, for queries that name the entry so; null without one. */
export function sealedHash(entry: string): string {
  return `(SELECT leaf.leaf_hash FROM audit_leaves AS leaf WHERE leaf.org_id = ${entry}.org_id AND leaf.entry_id = ${entry}.id
    AND leaf.leaf_index < (SELECT max(tree_size) FROM audit_heads AS head WHERE head.org_id = ${entry}.org_id))`
}

/** The entry of a row, as it is hashed. */
export function entryOf(row: RowOf<'audit_entries'>): AuditEntry {
  return {
    id: row.id,
    trail_id: row.trail_id,
    type: row.type,
    occurred_at: row.occurred_at,
    actor: { type: row.actor_type as AuditEntry['actor']['type'], id: row.actor_id },
    request_id: row.request_id,
    subject: { type: row.subject_type, id: row.subject_id },
    data: dataOf(row),
  }
}

/** Null if an edited entry has no canonical form any more. */
function hashOfStored(row: RowOf<'audit_entries'>): string | null {
  try {
    return leafHashOf(row.org_id, entryOf(row))
  } catch {
    return null
  }
}

/** The data of an entry. Text that is no longer a JSON object is kept as text, so that the hash of the entry differs. */
export function dataOf({ data }: Pick<RowOf<'audit_entries'>, 'data'>): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : { unreadable: data }
  } catch {
    return { unreadable: data }
  }
}
