import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../config.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
const FORM = /^sk_(sandbox|production)_[0-9A-Za-z]{38}$/

/** What the text of a key tells before any look-up. */
export type ReadApiKey = { environment: Environment; hash: string } | 'malformed'

/** Makes a new secret key for an environment: 190 random bits and a checksum that catches typing errors. */
export function generateApiKey(environment: Environment): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('')
  const body = `sk_${environment}_${random}`
  return body + checksumOf(body)
}

/** Reads a key as a caller sent it; one with a wrong checksum is refused here, so floods of guesses never reach the database. */
export function readApiKey(text: string): ReadApiKey {
  const match = FORM.exec(text)
  if (!match || checksumOf(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return 'malformed'
  return { environment: match[1] as Environment, hash: hashApiKey(text) }
}

/** The only form in which a key is stored. Its 190 random bits make a plain hash as good as a slow one. */
export function hashApiKey(key: string): string {
  return hash('sha256', key)
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
