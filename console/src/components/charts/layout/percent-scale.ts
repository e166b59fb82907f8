import { scaleLinear } from 'd3-scale'
import { isDrawable } from './value-axis.ts'

/**
 * Where a value lies between two others, in percent of the way from the first to the second. A value beyond them lies at
 * their end, and what is no finite number at their beginning.
 */
export function percentScale(from: number, to: number): (value: number | null | undefined) => number {
  // Between ends that are equal or unknown everything lies at the beginning; d3 would take the middle, or none.
  if (!(isDrawable(from) && isDrawable(to) && from < to)) return () => 0
  const scale = scaleLinear([from, to], [0, 100]).clamp(true)
  return (value) => (isDrawable(value) ? scale(value) : 0)
}
