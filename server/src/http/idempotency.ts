import { createHmac, type KeyObject } from 'node:crypto'
import { canonicalJson } from '../core/canonical-json.ts'

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,255}$/

/** Reads the `Idempotency-Key` header; undefined without one, false if it is malformed. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined | false {
  if (header === undefined) return undefined
  return typeof header === 'string' && PRINTABLE_ASCII.test(header) && header
}

/** Half of the HMAC: two bodies of one key have the same 128 bits by chance never, and each decision keeps them. */
const FINGERPRINT_BYTES = 16

/**
 * The hash that tells whether two requests under one idempotency key are the same. It is an HMAC, because an identifier
 * in a body could be guessed from a plain hash.
 */
export function fingerprintOf(
  key: KeyObject,
  { method, path, body }: { method: string; path: string; body: unknown },
): Uint8Array {
  const content = body === undefined ? '' : canonicalJson(body)
  return createHmac('sha256', key).update(`${method} ${path}\n${content}`).digest().subarray(0, FINGERPRINT_BYTES)
}
