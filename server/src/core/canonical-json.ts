import { hash } from 'node:crypto'

/**
 * The one byte form of a JSON value (RFC 8785), so that equal values have equal hashes everywhere. Members that are
 * undefined are left out, as JSON.stringify does. Written here because every decision needs it several times: on its
 * facts and trace it takes a fraction of what the general-purpose package takes, which serves as the oracle in tests.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('only finite numbers have a canonical form')
      // ECMAScript prints numbers as RFC 8785 section 3.2.2.3 asks for, -0 as 0.
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

/** A document in its canonical form, to be put into others as it is: what stands in several of them is written once. */
export class CanonicalText {
  readonly text: string

  constructor(document: object) {
    this.text = canonicalJson(document)
  }
}

/**
 * The canonical form of a document that the engine made itself: facts, traces and decisions have their members in the
 * order of their names, and all their numbers are finite. Nobody looks whether that is so, which makes it a third of the
 * work; each decision has three of them.
 */
export function orderedJson(document: object): string {
  const text = JSON.stringify(document)
  // Half a surrogate pair is written as an escape; it has no canonical form, and nothing else is written like that.
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

/** Characters that are written otherwise than as themselves, and halves of surrogate pairs, which may lack the other. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has to be escaped
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

/** The names by UTF-16 code units, as RFC 8785 section 3.2.3 asks for; most objects are made in that order already. */
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
