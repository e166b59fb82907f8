import { scaleBand } from 'd3-scale'
import type { BarLayout, BarsToLayOut, ColumnValues } from './chart-layout.ts'
import { layOutColumns } from './lay-out-columns.ts'
import { isDrawable } from './value-axis.ts'

const BAR_MAX = 14
/** The share of a column that its bars take together. */
const GROUP_SHARE = 0.8
/** The share of a bar that is left free beside it. */
const GAP_SHARE = 0.08

/** Lays out bars that stand side by side in each column, up or down from the line of zero. */
export function layOutPairs({ keys, columns, write, width, height }: BarsToLayOut): BarLayout {
  const grid = layOutColumns(
    columns.map(({ label }) => label),
    { values: columns.flatMap(({ values }) => keys.map((key) => values[key])), write, stepMin: 1 },
    { width, height },
  )
  const { plot, axis, band, starts, centers, labels } = grid
  const group = Math.min(band * GROUP_SHARE, keys.length * BAR_MAX)
  const barsOf = ({ values }: ColumnValues, center: number) => {
    const places = scaleBand(keys, [center - group / 2, center + group / 2]).paddingInner(GAP_SHARE)
    return keys.flatMap((key) => {
      const value = values[key]
      if (!isDrawable(value)) return []
      const [y, end] = [axis.yOf(Math.max(0, value)), axis.yOf(Math.min(0, value))]
      return [{ key, x: places(key)!, width: places.bandwidth(), y, height: end - y }]
    })
  }
  return {
    width,
    height,
    plot,
    ticks: axis.ticks,
    centers,
    labels,
    columns: columns.map((column, index) => ({
      x: starts[index]!,
      width: band,
      bars: barsOf(column, centers[index]!),
    })),
  }
}
