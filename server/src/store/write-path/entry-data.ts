import type { AuditEntryType } from '../../core/audit/audit-data.ts'
import { hashesIn } from '../../core/audit/merkle-tree.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { objectIn } from '../../core/stored-json.ts'
import type { RowOf } from '../schema/tables.ts'

/** The columns of an entry that make up its data. */
export type EntryData = Pick<RowOf<'audit_entries'>, 'type' | 'trail_id' | 'subject_id' | 'data' | 'hashes'>

/** The members of the data of an entry that other columns have. */
interface Members {
  subject: string
  trail: string
  /** SHA-256 values, in the order in which `hashes` has them. */
  hashes: readonly string[]
}

/** Most entries are about decisions, and most of their data are hashes and ids: as text they would take twice the room. */
const MEMBERS: Partial<Record<AuditEntryType, Members>> = {
  'decision.created': {
    subject: 'decision_id',
    trail: 'entity_id',
    hashes: ['policy_checksum', 'decision_sha256', 'facts_sha256', 'trace_sha256', 'graph_sha256'],
  },
}

/** The data of an entry as its row stores it: without what other columns have, and with hashes as bytes. */
export function storeData(type: AuditEntryType, data: object, text: string): Pick<EntryData, 'data' | 'hashes'> {
  const members = MEMBERS[type]
  if (!members) return { data: text, hashes: null }
  const names = namesOf(members)
  const values = new Map<string, unknown>(Object.entries(data))
  return {
    data: canonicalJson(Object.fromEntries([...values].filter(([name]) => !names.includes(name)))),
    hashes: Buffer.from(members.hashes.map((name) => values.get(name)).join(''), 'hex'),
  }
}

/** The data of a stored entry. What cannot have been stored so is kept as `unreadable`, so that the hash of the entry differs. */
export function dataOf({ type, trail_id, subject_id, data, hashes }: EntryData): Record<string, unknown> {
  const stored = objectIn(data)
  if (!stored) return { unreadable: data }
  if (hashes === null) return stored
  const members = MEMBERS[type as AuditEntryType]
  const values = hashesIn(hashes)
  const isWhole = hashes.length === 32 * (members?.hashes.length ?? 0)
  if (!members || !isWhole || namesOf(members).some((name) => name in stored)) return { unreadable: data }
  const named = members.hashes.map((name, index) => [name, values[index]])
  return { ...stored, [members.subject]: subject_id, [members.trail]: trail_id, ...Object.fromEntries(named) }
}

function namesOf({ subject, trail, hashes }: Members): string[] {
  return [subject, trail, ...hashes]
}
