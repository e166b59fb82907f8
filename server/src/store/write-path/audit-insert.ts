import type { FlushMacInput } from '../../core/audit/entry-mac.ts'
import { columnsOf, type Params, unnestAs, unnestRows } from '../schema/tables.ts'
import { storeIds } from './entry-list.ts'
import { FLUSH } from './flush-number.ts'
import type { AuditEntryRow, AuthenticatedEntryRow } from './record.ts'

/** An entry that a statement writes. */
type WrittenEntry = AuthenticatedEntryRow & { org_id: string }

/** Adds the MACs to an organization's new audit entries. */
export type Authenticate = (organizationId: string, entries: readonly AuditEntryRow[]) => AuthenticatedEntryRow[]

/** Makes the MAC of the entries that one statement writes on one log. */
export type FlushMac = (flush: FlushMacInput) => Uint8Array

/**
 * `INSERT` of audit entries, each with the next sequence number (`seq`) of its trail and its place among the entries of its
 * log in this statement.
 */
export function insertAuditEntries(entries: readonly WrittenEntry[], params: Params): string {
  const columns = columnsOf('audit_entries')
  return `INSERT INTO audit_entries (${columns.join(', ')}, seq, flush, place)
    SELECT ${columns.map((column) => `entry.${column}`).join(', ')},
      coalesce((SELECT max(seq) FROM audit_entries AS earlier WHERE earlier.org_id = entry.org_id AND earlier.trail_id = entry.trail_id), 0)
        + row_number() OVER (PARTITION BY entry.org_id, entry.trail_id ORDER BY entry.ordinality),
      ${FLUSH}, row_number() OVER (PARTITION BY entry.org_id ORDER BY entry.ordinality) - 1
    FROM ${unnestRows('audit_entries', entries, params)} WITH ORDINALITY AS entry (${columns.join(', ')}, ordinality)`
}

/** `INSERT` that lists the entries of each log for the sealer, in the order of `insertAuditEntries`. */
export function listForSealing(
  entries: readonly WrittenEntry[],
  params: Params,
  { macOf }: { macOf: FlushMac },
): string {
  const flushes = [...Map.groupBy(entries, ({ org_id }) => org_id)].map(([org_id, own]) => {
    const entry_ids = own.map(({ id }) => id)
    const leaf_hashes = Buffer.from(own.map(({ leaf_hash }) => leaf_hash).join(''), 'hex')
    return { org_id, entry_ids: storeIds(entry_ids), leaf_hashes, mac: macOf({ org_id, entry_ids, leaf_hashes }) }
  })
  const columns = { org_id: 'text', entry_ids: 'text', leaf_hashes: 'bytea', mac: 'bytea' }
  return `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac)
    SELECT org_id, ${FLUSH}, entry_ids, leaf_hashes, mac FROM ${unnestAs('flush', flushes, columns, params)}`
}
