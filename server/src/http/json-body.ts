import { countMembers, findRepeatedMember, measureJson } from './json-structure.ts'
import type { Violation } from './violation.ts'

/** The largest body that is accepted. */
export const BODY_BYTES_MAX = 1024 * 1024
/**
 * Bounds on the structure of a body, so that parsing and checking it cannot hold the event loop for long. The largest
 * valid body, 1,000 transactions with every field, has 12,003 values; the widest object has 200 features; the deepest
 * body has four levels.
 */
const BOUNDS = { values: 16_000, members: 1_000, depth: 32 }
/** How much of a name, or of a pointer, is repeated in an answer. */
const SHOWN_CHARACTERS_MAX = 100

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Why a body cannot be read, and which of its fields is at fault. */
export class BodyFault {
  readonly code: 'malformed_json' | 'unsupported_media_type' | 'validation_failed'
  readonly message: string
  readonly violation: Violation | undefined

  constructor(code: BodyFault['code'], message: string, violation?: Violation) {
    this.code = code
    this.message = message
    this.violation = violation
  }
}

/** Names with a meaning of their own on JavaScript objects; a field of such a name could pollute a prototype. */
const RESERVED_NAMES = new Set(['__proto__', 'constructor', 'prototype'])
/** Only a body with an escape or a reserved name is searched for faults; all others skip the search. */
const SUSPICIOUS = /\\u|__proto__|constructor|prototype/

/**
 * Parses a JSON body strictly: valid UTF-8, valid JSON, bounded in size and depth, storable text, no reserved names, no
 * member twice in one object. Empty is undefined.
 */
export function readJsonBody(bytes: Buffer): { value: unknown } | BodyFault {
  if (bytes.length === 0) return { value: undefined }
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return new BodyFault('malformed_json', 'The body is not valid UTF-8.')
  }
  const measured = measureJson(text, BOUNDS)
  if ('exceeds' in measured) return refuse({ param: '', message: EXCEEDED[measured.exceeds] })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return new BodyFault('malformed_json', `The body is not valid JSON${positionOf(error, text)}.`)
  }
  const fault = SUSPICIOUS.test(text) ? findFault(value) : undefined
  if (fault) return refuse(fault)
  // JSON.parse keeps only the last of several members with one name, so the parsed value then has fewer of them.
  return measured.members === countMembers(value) ? { value } : refuse(repeatedMember(text))
}

const EXCEEDED: Record<keyof typeof BOUNDS, string> = {
  values: `The body has more than ${BOUNDS.values} values. Split it into smaller requests.`,
  members: `An object in the body has more than ${BOUNDS.members} fields.`,
  depth: `The body is nested more than ${BOUNDS.depth} levels deep.`,
}

function refuse(violation: Violation): BodyFault {
  return new BodyFault('validation_failed', violation.message, violation)
}

function repeatedMember(text: string): Violation {
  const path = findRepeatedMember(text) ?? []
  const name = shortened(String(path.at(-1) ?? ''))
  return { param: pointerTo(path), message: `${name} is there twice in the same object. Send it once.` }
}

/** The line and column of a syntax error, from V8's message; the rest of that message is not meant for callers. */
function positionOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1]
  if (position === undefined) return ''
  const end = Number(position)
  let line = 1
  let lineStart = 0
  // Counted in place: splitting a MiB of line breaks would make a million texts.
  for (let index = 0; index < end; index++) {
    if (text.charCodeAt(index) !== 0x0a) continue
    line += 1
    lineStart = index + 1
  }
  return ` (line ${line}, column ${end - lineStart + 1})`
}

/** A place in a body, linked to the place around it: a path copied for each value would take quadratic time. */
interface Place {
  name: string
  around: Place | undefined
}

/** Finds text that cannot be stored, or a reserved name. */
export function findFault(root: unknown): Violation | undefined {
  const stack: { value: unknown; place: Place | undefined }[] = [{ value: root, place: undefined }]
  while (stack.length > 0) {
    const { value, place } = stack.pop()!
    if (typeof value === 'string' && !isStorable(value))
      return { param: pointerTo(pathOf(place)), message: 'Text must not contain NUL characters or lone surrogates.' }
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (!isStorable(name))
        return {
          param: pointerTo(pathOf(place)),
          message: 'Field names must not contain NUL characters or lone surrogates.',
        }
      const within = { name, around: place }
      if (RESERVED_NAMES.has(name))
        return { param: pointerTo(pathOf(within)), message: `${name} cannot be used as a field name.` }
      stack.push({ value: member, place: within })
    }
  }
  return undefined
}

function pathOf(place: Place | undefined): string[] {
  const path: string[] = []
  for (let at = place; at; at = at.around) path.push(at.name)
  return path.reverse()
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** The JSON pointer (RFC 6901) to a place in a body; names that are too long to repeat are shortened. */
export function pointerTo(path: readonly (string | number)[]): string {
  return path.map((name) => `/${shortened(String(name)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The beginning of a name that a caller chose: an answer never repeats much of what was sent. */
export function shortened(name: string): string {
  return name.length <= SHOWN_CHARACTERS_MAX ? name : `${name.slice(0, SHOWN_CHARACTERS_MAX).toWellFormed()}…`
}
