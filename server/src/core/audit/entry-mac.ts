import { createHmac, type KeyObject } from 'node:crypto'

/** HMAC keys of one purpose: new MACs are made with the first, and those of every key are valid. */
export type HmacKeys = readonly [KeyObject, ...KeyObject[]]

/** The fields of an audit entry that its MAC covers; the leaf hash in turn covers every member of the entry. */
export interface MacInput {
  org_id: string
  id: string
  leaf_hash: string
}

/** The bytes of a MAC that are stored. RFC 2104 advises at least half of the hash. */
const MAC_BYTES = 16

/**
 * The MAC (HMAC-SHA-256, its first half) of an audit entry, under a key that is derived from the master key: an entry that was
 * written with SQL alone proves nothing.
 */
export function entryMac(key: KeyObject, { org_id, id, leaf_hash }: MacInput): Uint8Array {
  // No id and no hash contains a space, so no two entries give the same text.
  const hmac = createHmac('sha256', key).update(`verdigraph.audit-entry.v1 ${org_id} ${id} ${leaf_hash}`)
  return hmac.digest().subarray(0, MAC_BYTES)
}

/** Whether this service wrote the entry: its MAC was made with one of the keys. */
export function hasValidMac(keys: readonly KeyObject[], entry: MacInput & { mac: Uint8Array }): boolean {
  // Not compared in constant time: the forger writes rows and cannot time the sealer's comparison of a single byte.
  return keys.some((key) => isSame(entryMac(key, entry), entry.mac))
}

/** The fields of a list of entries that its MAC covers; no two lists have the same hashes. */
export interface FlushMacInput {
  org_id: string
  entry_ids: readonly string[]
  /** 32 bytes for each entry. */
  leaf_hashes: Uint8Array
}

/**
 * The MAC of the entries that one statement wrote on one log. The sealer gives leaves only to lists with a valid MAC, so an
 * entry that was written with SQL alone never reaches the signed log.
 */
export function flushMac(key: KeyObject, { org_id, entry_ids, leaf_hashes }: FlushMacInput): Uint8Array {
  // As JSON, so that two ids are never taken for one.
  const hmac = createHmac('sha256', key).update(`verdigraph.audit-flush.v1 ${org_id} ${JSON.stringify(entry_ids)} `)
  return hmac.update(leaf_hashes).digest().subarray(0, MAC_BYTES)
}

/** Whether this service wrote the list: its MAC was made with one of the keys. */
export function hasValidFlushMac(keys: readonly KeyObject[], flush: FlushMacInput & { mac: Uint8Array }): boolean {
  return keys.some((key) => isSame(flushMac(key, flush), flush.mac))
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
