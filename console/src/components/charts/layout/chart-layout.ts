import type { ColumnLabel } from './label-columns.ts'
import type { Tick } from './value-axis.ts'

/** The part of a drawing that has the marks; its axis and the labels are around it. */
export interface Plot {
  left: number
  right: number
  top: number
  bottom: number
}

/** Where everything of a chart lies, in pixels of its drawing. */
export interface ChartLayout {
  width: number
  height: number
  plot: Plot
  ticks: readonly Tick[]
  /** The middle of each column, for the tooltip. */
  centers: readonly number[]
}

/** The layout of a chart whose columns have a width. */
export interface BarLayout extends ChartLayout {
  columns: readonly Column[]
  labels: readonly ColumnLabel[]
}

/** One column with its bars. */
export interface Column {
  x: number
  width: number
  bars: readonly { key: string; x: number; y: number; width: number; height: number }[]
}

/** A column of a chart before it is laid out. */
export interface ColumnValues {
  /** Below the axis: "11 Nov". */
  label: string
  values: Readonly<Record<string, number | null>>
}

/** Columns of bars before they are laid out: the series of each by its key. */
export interface BarsToLayOut {
  keys: readonly string[]
  columns: readonly ColumnValues[]
  write: (value: number) => string
  width: number
  height: number
}
