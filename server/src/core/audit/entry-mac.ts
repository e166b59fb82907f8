import { createHmac, type KeyObject } from 'node:crypto'

/** HMAC keys of one purpose: new MACs are made with the first, and those of every key are valid. */
export type HmacKeys = readonly [KeyObject, ...KeyObject[]]

/** The fields of an audit entry that its MAC covers; the leaf hash in turn covers every member of the entry. */
export interface MacInput {
  org_id: string
  id: string
  leaf_hash: string
}

/**
 * The MAC (HMAC-SHA-256) of an audit entry, under a key that is derived from the master key. The sealer signs only
 * entries with a valid MAC, so an entry that was written with SQL alone never reaches the signed log.
 */
export function entryMac(key: KeyObject, { org_id, id, leaf_hash }: MacInput): string {
  // No id and no hash contains a space, so no two entries give the same text.
  return createHmac('sha256', key).update(`verdigraph.audit-entry.v1 ${org_id} ${id} ${leaf_hash}`).digest('hex')
}

/** Whether this service wrote the entry: its MAC was made with one of the keys. */
export function hasValidMac(keys: readonly KeyObject[], entry: MacInput & { mac: string }): boolean {
  // Not compared in constant time: the forger writes rows and cannot time the sealer's comparison of a single byte.
  return keys.some((key) => entryMac(key, entry) === entry.mac)
}
