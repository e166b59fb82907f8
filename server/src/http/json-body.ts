import { type Failure, fail } from './api-error.ts'

/** The largest body that is read. */
export const BODY_BYTES_MAX = 1024 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Names that objects have by themselves. A field of that name could end up somewhere it was never meant to be. */
const RESERVED_NAMES = new Set(['__proto__', 'constructor', 'prototype'])
/** Only bodies with an escape or a reserved name need a second look; all others skip it. */
const SUSPICIOUS = /\\u|__proto__|constructor|prototype/

/** Reads a JSON body strictly: valid UTF-8, valid JSON, and only text and names that can be stored. Empty is undefined. */
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
    return fail('malformed_json', { message: `The body is not valid JSON${placeOf(error, text)}.` })
  }
  const fault = SUSPICIOUS.test(text) ? findFault(value) : undefined
  return fault ? fail('validation_failed', { ...fault, details: [fault] }) : { value }
}

/** V8 names the place of a syntax error in its message; nothing else of that message is fit for callers. */
function placeOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1]
  if (position === undefined) return ''
  const before = text.slice(0, Number(position))
  const line = before.split('\n').length
  return ` (line ${line}, column ${before.length - before.lastIndexOf('\n')})`
}

/** Looks for text that cannot be stored and names that may not be used, with a stack of its own: nesting may be deep. */
function findFault(root: unknown): { param: string; message: string } | undefined {
  const open: { value: unknown; pointer: string }[] = [{ value: root, pointer: '' }]
  while (open.length > 0) {
    const { value, pointer } = open.pop()!
    if (typeof value === 'string' && !isStorable(value))
      return { param: pointer, message: 'Text may not hold NUL characters or lone surrogates.' }
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (!isStorable(name))
        return { param: pointer, message: 'Field names may not hold NUL characters or lone surrogates.' }
      if (RESERVED_NAMES.has(name))
        return { param: `${pointer}/${name}`, message: `${name} cannot be used as a field name.` }
      // Deep inside, the pointer would only grow; what is that deep is refused by validation anyway.
      open.push({ value: member, pointer: pointer.length < 200 ? `${pointer}/${escapePointer(name)}` : pointer })
    }
  }
  return undefined
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** One name as a part of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
