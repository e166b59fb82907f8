/** A place where two JSON values differ; undefined on the side that has no value there. */
export interface JsonDifference {
  path: string
  before: unknown
  after: unknown
}

/** Lists where two JSON values differ, as JSON pointers to the smallest differing parts. */
export function jsonDifferences(before: unknown, after: unknown, path = ''): JsonDifference[] {
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    return Object.is(before, after) ? [] : [{ path, before, after }]
  }
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return keys.flatMap((key) => {
    const step = key.replaceAll('~', '~0').replaceAll('/', '~1')
    return jsonDifferences(own(before, key), own(after, key), `${path}/${step}`)
  })
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function own(container: object, key: string): unknown {
  return Object.hasOwn(container, key) ? (container as Record<string, unknown>)[key] : undefined
}
