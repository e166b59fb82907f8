/** Whether a JSON value is an object, neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a stored text; undefined if it is no JSON, because stored rows may have been altered in any way. */
export function parseStored(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object of a stored text; undefined if it is anything else. */
export function objectIn(text: string | null): Record<string, unknown> | undefined {
  const value = parseStored(text)
  return isObject(value) ? value : undefined
}

/** The list of a stored text; undefined if it is anything else. */
export function arrayIn(text: string | null): unknown[] | undefined {
  const value = parseStored(text)
  return Array.isArray(value) ? value : undefined
}

/** Reads a key that a caller chose; a key such as `constructor` never reads an inherited property. */
export function ownProperty<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
