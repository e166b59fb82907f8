import { createHmac, type KeyObject, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../config.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
const FORMAT = /^sk_(sandbox|production)_[0-9A-Za-z]{38}$/

/** What the text of a key reveals without reading the database: its environment. */
export type ReadApiKey = { environment: Environment } | 'malformed'

/** Generates a key for an environment: 190 random bits, and a checksum that detects typing errors. */
export function generateApiKey(environment: Environment): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('')
  const body = `sk_${environment}_${random}`
  return body + checksumOf(body)
}

/** Parses the key that a caller sent. The checksum is verified here, so guessed keys never reach the database. */
export function readApiKey(text: string): ReadApiKey {
  const match = FORMAT.exec(text)
  if (!match || checksumOf(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return 'malformed'
  return { environment: match[1] as Environment }
}

/**
 * Hashes an API key for storage; the key itself is not stored. `hashKey` (`MasterKey.apiKeyHashKey`) is not in the
 * database, so that its administrator cannot insert the row of a key that they chose.
 */
export function hashApiKey(hashKey: KeyObject, key: string): string {
  return createHmac('sha256', hashKey).update(key).digest('hex')
}

function checksumOf(body: string): string {
  let value = crc32(body)
  let text = ''
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit++) {
    text = BASE62[value % 62] + text
    value = Math.floor(value / 62)
  }
  return text
}
