/** The bounds of a JSON text. */
export interface JsonBounds {
  /** The number of values: every comma and every opening bracket begins at most one. */
  values: number
  /** The number of members of one object. */
  members: number
  /** The nesting of objects and arrays. */
  depth: number
}

/** The character codes of JSON's punctuation. */
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Counts the members of all objects in a JSON text without parsing it, or says which bound the text exceeds. Parsing
 * itself has to be bounded: V8 takes up to 0.2 s for a MiB of tiny objects. This pass takes 0.6 ms for 1,000
 * transactions and 0.3 µs for a request to decide, less than half of what JSON.parse takes for them.
 */
export function measureJson(text: string, bounds: JsonBounds): { members: number } | { exceeds: keyof JsonBounds } {
  const outer: number[] = []
  let own = 0
  let members = 0
  let values = 1
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = closingQuote(text, index)
    else if (code === COLON) {
      own += 1
      if (own > bounds.members) return { exceeds: 'members' }
    } else if (code === COMMA || code === OPEN_OBJECT || code === OPEN_ARRAY) {
      values += 1
      if (values > bounds.values) return { exceeds: 'values' }
      if (code === COMMA) continue
      depth += 1
      if (depth > bounds.depth) return { exceeds: 'depth' }
      if (code === OPEN_ARRAY) continue
      outer.push(own)
      own = 0
    } else if (code === CLOSE_ARRAY) depth -= 1
    else if (code === CLOSE_OBJECT) {
      depth -= 1
      members += own
      own = outer.pop() ?? 0
    }
  }
  return { members }
}

/** The number of members of all objects in a parsed value, which must not be nested deeply. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') members += countMembers(item)
    return members
  }
  for (const name in value) {
    members += 1
    const member = (value as Record<string, unknown>)[name]
    if (typeof member === 'object') members += countMembers(member)
  }
  return members
}

/** The path of the first member whose name an earlier member of the same object has, in a text that is valid JSON. */
export function findRepeatedMember(text: string): (string | number)[] | undefined {
  const open: { names?: Set<string>; at: string | number }[] = []
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const inner = open.at(-1)
    if (code === OPEN_OBJECT) open.push({ names: new Set(), at: '' })
    else if (code === OPEN_ARRAY) open.push({ at: 0 })
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop()
    else if (code === COMMA && typeof inner?.at === 'number') inner.at += 1
    else if (code === QUOTE) {
      const end = closingQuote(text, index)
      if (inner?.names && isName(text, end)) {
        // Parsed, because one name can be written in several ways: "a" and "\u0061".
        inner.at = JSON.parse(text.slice(index, end + 1)) as string
        if (inner.names.has(inner.at)) return open.map(({ at }) => at)
        inner.names.add(inner.at)
      }
      index = end
    }
  }
  return undefined
}

/** The index of the quote that ends a string; the end of the text if it has none. */
function closingQuote(text: string, openingQuote: number): number {
  let quote = openingQuote
  for (;;) {
    quote = text.indexOf('"', quote + 1)
    if (quote < 0) return text.length
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    // An odd number of backslashes escapes the quote.
    if ((quote - before) % 2 === 1) return quote
  }
}

/** Whether the string that ends here is the name of a member: a colon follows, after white space. */
function isName(text: string, end: number): boolean {
  let next = end + 1
  while (text.charCodeAt(next) <= 0x20) next += 1
  return text.charCodeAt(next) === COLON
}
