import type { AuditEntryType } from '../../core/audit/audit-data.ts'
import { hashesIn } from '../../core/audit/merkle-tree.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { arrayIn, objectIn } from '../../core/stored-json.ts'
import type { RowOf } from '../schema/tables.ts'

/** The columns of an entry that make up its data. */
export type EntryData = Pick<RowOf<'audit_entries'>, 'type' | 'trail_id' | 'subject_id' | 'data' | 'hashes'>

/** How the data of an entry is stored: its members are named by their place. */
interface Members {
  subject: string
  trail: string
  /** In the order of the array in `data`. */
  texts: readonly string[]
  /** SHA-256 values, in the order in which `hashes` has them. An entry may lack the last one. */
  hashes: readonly string[]
}

/** Most entries are about decisions, and most of their data are names, hashes and ids: as JSON they would take more than twice the room. */
const MEMBERS: Partial<Record<AuditEntryType, Members>> = {
  'decision.created': {
    subject: 'decision_id',
    trail: 'entity_id',
    texts: ['policy_version', 'product', 'verdict'],
    hashes: ['policy_checksum', 'decision_sha256', 'facts_sha256', 'trace_sha256', 'graph_sha256', 'reference_hash'],
  },
}

/** The data of an entry as its row stores it: without what other columns have, and with hashes as bytes. */
export function storeData(type: AuditEntryType, data: object, text: string): Pick<EntryData, 'data' | 'hashes'> {
  const members = MEMBERS[type]
  if (!members) return { data: text, hashes: null }
  const values = data as Record<string, string>
  return {
    data: canonicalJson(members.texts.map((name) => values[name])),
    hashes: Buffer.from(members.hashes.map((name) => values[name] ?? '').join(''), 'hex'),
  }
}

/** The data of a stored entry. What cannot have been stored so is kept as `unreadable`, so that the hash of the entry differs. */
export function dataOf({ type, trail_id, subject_id, data, hashes }: EntryData): Record<string, unknown> {
  if (hashes === null) return objectIn(data) ?? { unreadable: data }
  const members = MEMBERS[type as AuditEntryType]
  const texts = arrayIn(data)
  if (!members || texts?.length !== members.texts.length) return { unreadable: data }
  const lacking = members.hashes.length - hashes.length / 32
  if (lacking !== 0 && lacking !== 1) return { unreadable: data }
  return {
    [members.subject]: subject_id,
    [members.trail]: trail_id,
    ...Object.fromEntries(members.texts.map((name, index) => [name, texts[index]])),
    ...Object.fromEntries(hashesIn(hashes).map((value, index) => [members.hashes[index], value])),
  }
}
