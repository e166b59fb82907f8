import type { KeyObject } from 'node:crypto'
import { type AuditEntry, leafHashOf } from '../../core/audit/audit-entry.ts'
import { type Checkpoint, type LogIdentity, verifyCheckpoint } from '../../core/audit/checkpoint.ts'
import { type HmacKeys, hasValidMac } from '../../core/audit/entry-mac.ts'
import { objectIn } from '../../core/stored-json.ts'
import type { Environment } from '../../core/vocabularies.ts'
import type { RowOf } from '../schema/tables.ts'

/** An entry with its leaf and the newest head of its log, as JSON (`sealedLeaf`); null while it has no leaf. */
export type StoredEntry = RowOf<'audit_entries'> & { sealed_leaf: string | null }

/** Whether this service wrote an entry, with exactly the content that is stored now. */
export type IsAuthentic = (entry: StoredEntry) => boolean

/** The keys that tell which stored entries this service wrote. */
export interface EntryKeys {
  environment: Environment
  /** Of the current master key first, then of the retired ones. */
  auditKeys: HmacKeys
  /** Verifies the heads that are signed under the current master key. */
  headKey: KeyObject
}

/**
 * Creates the check of stored entries: their content has their leaf hash, and the hash has their MAC. A MAC of a retired
 * master key counts only for an entry that was sealed: a thief of the key could write others for ever.
 */
export function createIsAuthentic({ environment, auditKeys: [current, ...retired], headKey }: EntryKeys): IsAuthentic {
  const isSealed = (row: StoredEntry): boolean => {
    if (row.sealed_leaf === null) return false
    const { leaf_index, leaf_hash, head } = JSON.parse(row.sealed_leaf) as SealedLeaf
    // INVARIANT: a head of the current key bounds the leaves. A thief of a retired key can sign with that one, and SQL can
    // insert any head; the leaves below a genuine one are all taken.
    return (
      leaf_hash === row.leaf_hash &&
      leaf_index >= 0 &&
      leaf_index < head.tree_size &&
      isSigned({ environment, organizationId: row.org_id }, head, headKey)
    )
  }
  return (row) =>
    hashOfStored(row) === row.leaf_hash && (hasValidMac([current], row) || (hasValidMac(retired, row) && isSealed(row)))
}

interface SealedLeaf {
  leaf_index: number
  leaf_hash: string
  head: Checkpoint
}

/** SQL: the leaf of an entry with the newest head of its log, for queries that name the entry so; null without one. */
export function sealedLeaf(entry: string): string {
  return `(SELECT json_build_object('leaf_index', leaf.leaf_index, 'leaf_hash', leaf.leaf_hash, 'head', row_to_json(head))::text
    FROM audit_leaves AS leaf
    CROSS JOIN LATERAL (SELECT * FROM audit_heads WHERE org_id = leaf.org_id ORDER BY tree_size DESC LIMIT 1) AS head
    WHERE leaf.org_id = ${entry}.org_id AND leaf.entry_id = ${entry}.id)`
}

/** False too for a forged head that has no canonical form. */
function isSigned(log: LogIdentity, head: Checkpoint, key: KeyObject): boolean {
  try {
    return verifyCheckpoint(log, { ...head, signed_at: new Date(head.signed_at).toISOString() }, key)
  } catch {
    return false
  }
}

/** The entry of a row, as it is hashed. */
export function entryOf(row: RowOf<'audit_entries'>): AuditEntry & { data: Record<string, unknown> } {
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
  return objectIn(data) ?? { unreadable: data }
}
