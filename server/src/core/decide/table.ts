import type { TableRow } from '../policy/compiled-policy.ts'

/** Interpolates linearly between the rows of a table and rounds down; beyond either end the last row there counts. A table has at least two rows. */
export function readTable(rows: readonly TableRow[], at: number): number {
  let next = 0
  while (next < rows.length && rows[next]!.at <= at) next += 1
  const upper = rows[next]
  const lower = rows[next - 1]
  if (lower === undefined) return rows[0]!.value
  if (upper === undefined) return lower.value
  return Math.floor(lower.value + ((upper.value - lower.value) * (at - lower.at)) / (upper.at - lower.at))
}
