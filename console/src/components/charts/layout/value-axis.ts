import { extent } from 'd3-array'
import { scaleLinear } from 'd3-scale'

/** A value that an axis names, and where it lies. */
export interface Tick {
  value: number
  label: string
  y: number
}

/** The vertical axis of a chart: where a value lies, and the round values that it names, lowest first. */
export interface ValueAxis {
  yOf: (value: number) => number
  ticks: readonly Tick[]
}

/** What an axis is made for. */
export interface AxisOptions {
  /** The values of the chart; what is no finite number has no place on it. */
  values: Iterable<number | null | undefined>
  top: number
  bottom: number
  write: (value: number) => string
  /** Otherwise the axis begins near the lowest value, which its labels say. */
  hasZero?: boolean
  /** The smallest step that `write` tells apart, a power of ten: 1 for counts. */
  stepMin?: number
  /** About how many steps are named; d3 takes up to half as many more. */
  steps?: number
}

/** An axis for any values, also for none, for one, and for values that are all the same. */
export function valueAxis({
  values,
  top,
  bottom,
  write,
  hasZero = true,
  stepMin = 0,
  steps = 4,
}: AxisOptions): ValueAxis {
  const [from, to] = domainOf([...values].filter(isDrawable), { hasZero, stepMin })
  const count = Math.max(1, Math.min(steps, Math.floor((to - from) / stepMin)))
  const scale = scaleLinear([from, to], [bottom, top]).nice(count).clamp(true)
  return {
    yOf: (value) => scale(value),
    ticks: scale.ticks(count).map((value) => ({ value, label: write(value), y: scale(value) })),
  }
}

/** Whether a value can be drawn: nothing else than a finite number has a place on an axis. */
export function isDrawable(value: number | null | undefined): value is number {
  return Number.isFinite(value)
}

/** Values that differ by less than this share are one: no label would tell them apart. */
const CLOSE = 1e-9

function domainOf(values: readonly number[], { hasZero, stepMin }: { hasZero: boolean; stepMin: number }) {
  const [low = 0, high = 0] = extent(values)
  const isOneValue = high - low <= CLOSE * Math.max(Math.abs(low), Math.abs(high))
  const [from, to] = hasZero || isOneValue ? [Math.min(0, low), Math.max(0, high)] : [low, high]
  if (from === to) return [0, Math.max(1, stepMin)] as const
  // Around zero the ends are whole steps: with a single step that both sides share, d3 finds no round ends.
  if (to - from >= stepMin && !(from < 0 && to > 0 && stepMin > 0)) return [from, to] as const
  return [Math.floor(from / stepMin) * stepMin, Math.ceil(to / stepMin) * stepMin] as const
}
