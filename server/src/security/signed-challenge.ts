import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'

const NONCE_BYTES = 16
const EXPIRY_BYTES = 8
const MAC_BYTES = 32

/**
 * Makes a challenge that needs no storage until it is used: a nonce and the time of its end, under a MAC of this
 * installation. Callers without a session may ask for any number of them.
 */
export function signChallenge(key: KeyObject, expiresAtMs: number): string {
  const content = Buffer.alloc(NONCE_BYTES + EXPIRY_BYTES)
  randomBytes(NONCE_BYTES).copy(content)
  content.writeBigUInt64BE(BigInt(expiresAtMs), NONCE_BYTES)
  return Buffer.concat([content, macOf(key, content)]).toString('base64url')
}

/** When a challenge of this installation ends, in milliseconds; undefined for any other text. */
export function challengeEnd(key: KeyObject, token: string): number | undefined {
  const bytes = Buffer.from(token, 'base64url')
  // The decoder skips what is not base64url, so one challenge could be written in several ways and be used several times.
  if (bytes.length !== NONCE_BYTES + EXPIRY_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
  const content = bytes.subarray(0, -MAC_BYTES)
  if (!timingSafeEqual(macOf(key, content), bytes.subarray(-MAC_BYTES))) return undefined
  return Number(content.readBigUInt64BE(NONCE_BYTES))
}

function macOf(key: KeyObject, content: Buffer): Buffer {
  return createHmac('sha256', key).update(content).digest()
}
