import { widestLabel } from './label-width.ts'

/** A word below a column, at its middle. */
export interface ColumnLabel {
  index: number
  x: number
  text: string
}

/** The least distance between two labels. */
const GAP = 12

/** The labels that fit below columns of one width: the last, and every n-th before it. */
export function labelColumns(
  labels: readonly string[],
  { centers, width }: { centers: readonly number[]; width: number },
): ColumnLabel[] {
  const [first = 0, second = Number.POSITIVE_INFINITY] = centers
  const last = centers.at(-1) ?? 0
  const half = widestLabel(labels) / 2
  const inside = (x: number) => Math.max(half, Math.min(x, width - half))
  // A label at an edge is moved inside, and so towards its neighbour.
  const moved = Math.abs(inside(first) - first) + Math.abs(inside(last) - last)
  const every = Math.max(1, Math.ceil((2 * half + GAP + moved) / (second - first)))
  return labels.flatMap((text, index) =>
    (labels.length - 1 - index) % every === 0 ? [{ index, x: inside(centers[index]!), text }] : [],
  )
}
