import { createHmac, type KeyObject } from 'node:crypto'
import { canonicalJson } from '../core/canonical-json.ts'
import { type Failure, fail } from '../api/api-error.ts'

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,255}$/

/** Reads the `Idempotency-Key` header; a key that is missing where required, or malformed, is a failure. */
export function readIdempotencyKey(
  header: string | string[] | undefined,
  required: boolean,
): string | undefined | Failure<'idempotency_key_missing' | 'idempotency_key_invalid'> {
  if (header === undefined) return required ? fail('idempotency_key_missing') : undefined
  if (typeof header !== 'string' || !PRINTABLE_ASCII.test(header)) return fail('idempotency_key_invalid')
  return header
}

/**
 * The hash that tells whether two requests under one idempotency key are the same. It is an HMAC, because an identifier
 * in a body could be guessed from a plain hash.
 */
export function fingerprintOf(
  key: KeyObject,
  { method, path, body }: { method: string; path: string; body: unknown },
): string {
  const content = body === undefined ? '' : canonicalJson(body)
  return createHmac('sha256', key).update(`${method} ${path}\n${content}`).digest('hex')
}
