import { type SeriesPoint, stack, stackOffsetDiverging } from 'd3-shape'
import type { BarLayout, BarsToLayOut, ColumnValues } from './chart-layout.ts'
import { layOutColumns } from './lay-out-columns.ts'
import { isDrawable } from './value-axis.ts'

/** Between the parts of a bar. */
const GAP = 1.5
const [BAR_MIN, BAR_MAX] = [2, 40]
/** The share of a column that its bar takes. */
const BAR_SHARE = 0.78

/** Lays out bars that are stacked by series, from the bottom up; a value below zero goes below the line of zero. */
export function layOutStack({ keys, columns, write, width, height }: BarsToLayOut): BarLayout {
  const stacked = stack<ColumnValues>()
    .keys(keys)
    .value(({ values }, key) => drawn(values[key]))
    .offset(stackOffsetDiverging)(columns)
  const grid = layOutColumns(
    columns.map(({ label }) => label),
    { values: stacked.flat(2), write, stepMin: 1 },
    { width, height },
  )
  const barWidth = Math.min(grid.band, BAR_MAX, Math.max(BAR_MIN, grid.band * BAR_SHARE))
  return {
    width,
    height,
    plot: grid.plot,
    ticks: grid.axis.ticks,
    centers: grid.centers,
    labels: grid.labels,
    columns: grid.starts.map((x, index) => ({
      x,
      width: grid.band,
      bars: stacked.flatMap((series) => {
        const part = series[index]!
        if (part[0] === part[1]) return []
        return [{ key: series.key, x: grid.centers[index]! - barWidth / 2, width: barWidth, ...partOf(part, grid) }]
      }),
    })),
  }
}

/** A part of a bar: at least a pixel high, so that one among thousands is seen. */
function partOf([from, to]: SeriesPoint<ColumnValues>, { axis, plot }: ReturnType<typeof layOutColumns>) {
  const [low, high] = [axis.yOf(from), axis.yOf(to)]
  const height = Math.max(1, low - high - GAP)
  return { y: Math.max(plot.top, Math.min(high, low - height)), height }
}

function drawn(value: number | null | undefined): number {
  return isDrawable(value) ? value : 0
}
