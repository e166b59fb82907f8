import { range } from 'd3-array'
import { scalePoint } from 'd3-scale'
import { area, line } from 'd3-shape'
import type { ChartLayout, ColumnValues } from './chart-layout.ts'
import { fitLabel, widestLabel } from './label-width.ts'
import { isDrawable, valueAxis } from './value-axis.ts'

const MARGIN = { top: 14, bottom: 22, left: 4 }
/** Between the newest point and the labels of the axis. */
const AXIS_GAP = 10
/** Between a marked moment and its words. */
const MARK_GAP = 4

/** A word at a place, which it begins at, ends at, or has in its middle. */
export interface PlacedWord {
  x: number
  anchor: 'start' | 'middle' | 'end'
  text: string
}

/** The layout of a chart of lines, with the axis at the right. */
export interface LineLayout extends ChartLayout {
  lines: readonly SeriesLine[]
  /** The first and the last moment. */
  labels: readonly PlacedWord[]
  mark: (PlacedWord & { at: number }) | undefined
}

/** The path of a series, the area below it, and its points that have no neighbour, which are no line. */
export interface SeriesLine {
  key: string
  path: string
  area: string
  lone: readonly { x: number; y: number }[]
}

/** Lays out lines over time; a moment without a value is a gap. */
export function layOutLines({
  keys,
  points,
  write,
  hasZero,
  stepMin,
  mark,
  width,
  height,
}: {
  keys: readonly string[]
  points: readonly ColumnValues[]
  write: (value: number) => string
  hasZero: boolean
  stepMin: number
  /** A marked moment, by its index, and its words. */
  mark?: { index: number; label: string } | undefined
  width: number
  height: number
}): LineLayout {
  const [top, bottom] = [MARGIN.top, height - MARGIN.bottom]
  const values = points.flatMap((point) => keys.map((key) => point.values[key]))
  const axis = valueAxis({ values, top, bottom, write, hasZero, stepMin, steps: 3 })
  const plot = {
    top,
    bottom,
    left: MARGIN.left,
    right: width - widestLabel(axis.ticks.map(({ label }) => label)) - AXIS_GAP,
  }
  const scale = scalePoint(range(points.length), [plot.left, plot.right])
  const centers = scale.domain().map((index) => scale(index)!)
  return {
    width,
    height,
    plot,
    ticks: axis.ticks,
    centers,
    lines: keys.map((key) => lineOf(points, key, { centers, yOf: axis.yOf })),
    labels: endLabels(points, { plot, centers }),
    mark: mark && centers[mark.index] !== undefined ? placeMark(mark.label, centers[mark.index]!, plot) : undefined,
  }
}

function lineOf(
  points: readonly ColumnValues[],
  key: string,
  { centers, yOf }: { centers: readonly number[]; yOf: (value: number) => number },
): SeriesLine {
  const isKnown = (point: ColumnValues | undefined) => isDrawable(point?.values[key])
  const x = (_: ColumnValues, index: number) => centers[index]!
  const y = (point: ColumnValues) => yOf(point.values[key]!)
  return {
    key,
    path: line(x, y).defined(isKnown)([...points]) ?? '',
    area: area(x, yOf(0), y).defined(isKnown)([...points]) ?? '',
    lone: points.flatMap((point, index) =>
      isKnown(point) && !isKnown(points[index - 1]) && !isKnown(points[index + 1])
        ? [{ x: centers[index]!, y: y(point) }]
        : [],
    ),
  }
}

function endLabels(
  points: readonly ColumnValues[],
  { plot, centers }: { plot: LineLayout['plot']; centers: readonly number[] },
): PlacedWord[] {
  const room = plot.right - plot.left
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return []
  if (first === last) return [{ x: centers[0]!, anchor: 'middle', text: fitLabel(first.label, room) }]
  return [
    { x: plot.left, anchor: 'start', text: fitLabel(first.label, room / 2) },
    { x: plot.right, anchor: 'end', text: fitLabel(last.label, room / 2) },
  ]
}

/** The words of a mark stand on the side that has more room. */
function placeMark(label: string, at: number, { left, right }: LineLayout['plot']): LineLayout['mark'] {
  const isLeft = at - left > right - at
  const room = Math.max(at - left, right - at) - MARK_GAP
  return {
    at,
    x: isLeft ? at - MARK_GAP : at + MARK_GAP,
    anchor: isLeft ? 'end' : 'start',
    text: fitLabel(label, room),
  }
}
