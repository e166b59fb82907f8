import { compareText } from '../plain-spelling.ts'

/** The later of two instants in ISO 8601 UTC, which sort as text; undefined is earlier than any instant. */
export function laterOf(a: string | undefined, b: string): string {
  return a !== undefined && a > b ? a : b
}

/**
 * Keeps the entries with the newest instants, ties by key.
 *
 * An evicted entry is older than every entry that is kept, so the result does not depend on when entries are evicted.
 */
export function newestOf<Value>(
  record: Record<string, Value>,
  entriesMax: number,
  instantOf: (value: Value) => string,
): Record<string, Value> {
  const entries = Object.entries(record)
  if (entries.length <= entriesMax) return record
  const newestFirst = ([keyA, a]: [string, Value], [keyB, b]: [string, Value]) =>
    compareText(instantOf(b), instantOf(a)) || compareText(keyA, keyB)
  return Object.fromEntries(entries.sort(newestFirst).slice(0, entriesMax))
}
