import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** The one byte form of a JSON value (RFC 8785), so that equal values have equal hashes everywhere. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('only JSON values have a canonical form')
  return text
}

/** SHA-256 of the canonical form, in lowercase hexadecimal. */
export function canonicalSha256(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'hex')
}
