/** One invalid field of a request; `param` is a JSON pointer into the body, or the name of a query parameter. */
export interface Violation {
  param: string
  message: string
}

/** The number of violations that one answer lists. */
export const VIOLATIONS_MAX = 100

/**
 * The name of the field at a JSON pointer, as messages use it. A field of an array's item is named from the array on, with
 * the index: `transactions[3].amount`.
 */
export function fieldName(pointer: string): string {
  const path = pointer.split('/').slice(1).map(unescaped)
  const firstIndex = path.findIndex((segment) => INDEX.test(segment))
  const named = firstIndex > 0 ? path.slice(firstIndex - 1) : path.slice(-1)
  const [first = '', ...others] = named
  return others.reduce((name, part) => (INDEX.test(part) ? `${name}[${part}]` : `${name}.${part}`), first) || 'The body'
}

const INDEX = /^\d+$/

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}
