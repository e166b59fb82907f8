import { hash } from 'node:crypto'

/**
 * The canonical form of a JSON value (RFC 8785), so that equal values have equal hashes everywhere. Undefined members
 * are left out, as in JSON.stringify. Implemented here because every decision needs it several times: on facts and
 * traces it takes a fraction of the time of the `canonicalize` package, which tests compare it with.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('only finite numbers have a canonical form')
      // ECMAScript prints numbers as RFC 8785 section 3.2.2.3 requires, and -0 as 0.
      return `${value}`
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (value instanceof CanonicalText) return value.text
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>)
    default:
      throw new TypeError('only JSON values have a canonical form')
  }
}

/** A document already in canonical form, which `canonicalJson` inserts as is: shared parts are serialized only once. */
export class CanonicalText {
  readonly text: string

  constructor(document: object) {
    this.text = canonicalJson(document)
  }
}

/**
 * The canonical form of a document that the engine built itself: facts, traces and decisions have their members in the
 * order of their names, and all their numbers are finite. Neither is checked here, which takes a third of the time of
 * `canonicalJson`; each decision has three such documents.
 */
export function orderedJson(document: object): string {
  const text = JSON.stringify(document)
  // JSON.stringify escapes only lone surrogates as `\ud…`; they have no canonical form, and `canonicalJson` throws.
  return text.includes(String.raw`\ud`) ? canonicalJson(document) : text
}

/** SHA-256 of a text, in lowercase hexadecimal. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/** SHA-256 of the canonical form, in lowercase hexadecimal. */
export function canonicalSha256(value: unknown): string {
  return sha256(canonicalJson(value))
}

/** Characters that must be escaped, and surrogates, which may be unpaired. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must be escaped
const NOT_PLAIN = /[\u0000-\u001f"\\\ud800-\udfff]/

function canonicalString(text: string): string {
  if (!NOT_PLAIN.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('text with a lone surrogate has no canonical form')
  return JSON.stringify(text)
}

function canonicalArray(items: readonly unknown[]): string {
  let text = '['
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ','
    text += canonicalJson(items[index])
  }
  return `${text}]`
}

/** The names sorted by UTF-16 code units (RFC 8785, section 3.2.3); most objects already have that order. */
function namesInOrder(members: Record<string, unknown>): string[] {
  const names = Object.keys(members)
  for (let index = 1; index < names.length; index++) if (names[index - 1]! > names[index]!) return names.sort()
  return names
}

function canonicalObject(members: Record<string, unknown>): string {
  let text = '{'
  for (const name of namesInOrder(members)) {
    const member = members[name]
    if (member === undefined) continue
    if (text.length > 1) text += ','
    text += `${canonicalString(name)}:${canonicalJson(member)}`
  }
  return `${text}}`
}
