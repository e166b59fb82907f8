import { type Failure, fail } from './api-error.ts'

/** The largest body that is accepted. */
export const BODY_BYTES_MAX = 1024 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Names with a meaning of their own on JavaScript objects; a field of such a name could pollute a prototype. */
const RESERVED_NAMES = new Set(['__proto__', 'constructor', 'prototype'])
/** Only a body with an escape or a reserved name is searched for faults; all others skip the search. */
const SUSPICIOUS = /\\u|__proto__|constructor|prototype/

/** Parses a JSON body strictly: valid UTF-8, valid JSON, storable text, no reserved names. Empty is undefined. */
export function readJsonBody(bytes: Buffer): { value: unknown } | Failure<'malformed_json' | 'validation_failed'> {
  if (bytes.length === 0) return { value: undefined }
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return fail('malformed_json', { message: 'The body is not valid UTF-8.' })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return fail('malformed_json', { message: `The body is not valid JSON${positionOf(error, text)}.` })
  }
  const fault = SUSPICIOUS.test(text) ? findFault(value) : undefined
  return fault ? fail('validation_failed', { ...fault, details: [fault] }) : { value }
}

/** The line and column of a syntax error, from V8's message; the rest of that message is not meant for callers. */
function positionOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1]
  if (position === undefined) return ''
  const before = text.slice(0, Number(position))
  const line = before.split('\n').length
  return ` (line ${line}, column ${before.length - before.lastIndexOf('\n')})`
}

/** Finds text that cannot be stored, or a reserved name. Not recursive: deep nesting would overflow the call stack. */
function findFault(root: unknown): { param: string; message: string } | undefined {
  const stack: { value: unknown; pointer: string }[] = [{ value: root, pointer: '' }]
  while (stack.length > 0) {
    const { value, pointer } = stack.pop()!
    if (typeof value === 'string' && !isStorable(value))
      return { param: pointer, message: 'Text must not contain NUL characters or lone surrogates.' }
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (!isStorable(name))
        return { param: pointer, message: 'Field names must not contain NUL characters or lone surrogates.' }
      if (RESERVED_NAMES.has(name))
        return { param: `${pointer}/${name}`, message: `${name} cannot be used as a field name.` }
      // The pointer stops growing here: validation refuses a field that is nested this deeply anyway.
      stack.push({ value: member, pointer: pointer.length < 200 ? `${pointer}/${escapePointer(name)}` : pointer })
    }
  }
  return undefined
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Escapes a field name for use in a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
