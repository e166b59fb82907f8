import { range } from 'd3-array'
import { scaleBand } from 'd3-scale'
import type { Plot } from './chart-layout.ts'
import { type ColumnLabel, labelColumns } from './label-columns.ts'
import { widestLabel } from './label-width.ts'
import { type AxisOptions, type ValueAxis, valueAxis } from './value-axis.ts'

const MARGIN = { top: 8, right: 6, bottom: 24 }
/** Between the labels of the axis and the first column. */
const AXIS_GAP = 12
/** The narrowest margin of the axis, so that charts below each other mostly begin at the same place. */
const AXIS_MIN = 40

/** The axis of a chart with columns, and the columns without their bars. */
export interface ColumnGrid {
  plot: Plot
  axis: ValueAxis
  band: number
  starts: readonly number[]
  centers: readonly number[]
  labels: readonly ColumnLabel[]
}

/** Divides a drawing into an axis, which is as wide as its labels, and columns of one width beside it. */
export function layOutColumns(
  labels: readonly string[],
  axisOptions: Omit<AxisOptions, 'top' | 'bottom'>,
  { width, height }: { width: number; height: number },
): ColumnGrid {
  const [top, bottom, right] = [MARGIN.top, height - MARGIN.bottom, width - MARGIN.right]
  const axis = valueAxis({ ...axisOptions, top, bottom })
  const left = Math.max(AXIS_MIN, widestLabel(axis.ticks.map(({ label }) => label)) + AXIS_GAP)
  const scale = scaleBand(range(labels.length), [left, right])
  const band = scale.bandwidth()
  const starts = scale.domain().map((index) => scale(index)!)
  const centers = starts.map((start) => start + band / 2)
  return {
    plot: { left, right, top, bottom },
    axis,
    band,
    starts,
    centers,
    labels: labelColumns(labels, { centers, width }),
  }
}
