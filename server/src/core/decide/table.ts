import type { TableRow } from '../policy/compiled-policy.ts'

/** Reads a table in a straight line between its rows, rounded down to an integer; beyond its ends it stays level. */
export function readTable(rows: readonly TableRow[], at: number): number {
  let next = 0
  while (next < rows.length && rows[next]!.at <= at) next += 1
  const upper = rows[next]
  const lower = rows[next - 1]
  if (lower === undefined) return upper?.value ?? 0
  if (upper === undefined) return lower.value
  return Math.floor(lower.value + ((upper.value - lower.value) * (at - lower.at)) / (upper.at - lower.at))
}
