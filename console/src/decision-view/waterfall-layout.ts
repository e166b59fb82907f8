import { extent } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { isDrawable } from '../components/charts/layout/value-axis.ts'
import type { ViewData } from './view-data.ts'
import { writeDecimal } from './write-feature.ts'

/** The score of a decision with what it is made of. */
export type Score = NonNullable<ViewData['evidence']['score']>

type ScoreLine = Pick<ViewData['evidence']['scorecard'][number], 'points' | 'shortfall'>

/** What the bars show: the running total, or each characteristic against its reference. */
export type WaterfallMode = 'running' | 'reference'

/** A bar from one place to another, in percent of the axis. */
export interface Span {
  from: number
  to: number
}

/** A bar of points, and behind it what it misses against the reference. */
export interface Bar extends Span {
  missed: Span | null
}

/** A vertical line of the axis, which the head names. */
export interface AxisLine {
  at: number
  name: string
  kind: 'tick' | 'cutoff'
}

/** Where everything of the waterfall lies, in percent of the width of its axis. */
export interface WaterfallLayout {
  /** The points at the beginning of the axis. */
  startsAt: number
  lines: readonly AxisLine[]
  base: Bar
  /** One for each characteristic. */
  bars: readonly Bar[]
  rulePoints: Bar
  total: Bar
}

type Scale = ReturnType<typeof percentAxis>

const TICKS = 5
/** The ends of the axis are rounded to a finer step than its ticks, so that little of it is empty. */
const NICE = 20
/** The least room at both ends of the axis, in points. */
const ROOM_MIN = 10
const ROOM_SHARE = 0.06

/** Lays out the points of a scorecard from base to score, or each line of it against its reference. */
export function layOutWaterfall(
  score: Pick<Score, 'base' | 'total' | 'rule_points'> & { cutoff: number | null },
  scorecard: readonly ScoreLine[],
  mode: WaterfallMode,
): WaterfallLayout {
  const { base, total, cutoff, rule_points = 0 } = score
  const spans = mode === 'running' ? runningSpans(base, scorecard) : referenceSpans(scorecard)
  const ends = spans.flatMap(({ from, to, missed }) => [from, to, Math.max(from, to) + missed])
  const cutoffs = cutoff === null ? [] : [cutoff]
  const scale =
    mode === 'running' ? axisOver([base, total, ...cutoffs, total - rule_points, ...ends]) : axisAround(ends)
  const [startsAt = 0] = scale.domain()
  const place = ({ from, to, missed = 0 }: PointSpan): Bar => {
    const [low, high] = [scale(Math.min(from, to)), scale(Math.max(from, to))]
    return {
      from: low,
      to: high,
      missed: missed > 0 ? { from: high, to: scale(Math.max(from, to) + missed) } : null,
    }
  }
  return {
    startsAt,
    lines:
      mode === 'running'
        ? [
            ...ticksOf(scale),
            ...cutoffs.map((at): AxisLine => ({ at: scale(at), name: `Cutoff ${writeDecimal(at)}`, kind: 'cutoff' })),
          ]
        : [{ at: scale(0), name: 'Reference', kind: 'cutoff' }],
    base: place({ from: startsAt, to: base }),
    bars: spans.map(place),
    rulePoints: place({ from: total - rule_points, to: total }),
    total: place({ from: startsAt, to: total }),
  }
}

/** A bar before it is placed, in points. */
interface PointSpan extends Span {
  missed?: number
}

function runningSpans(base: number, scorecard: readonly ScoreLine[]): Required<PointSpan>[] {
  let total = base
  return scorecard.map(({ points, shortfall }) => {
    const from = total
    total += points
    return { from, to: total, missed: Math.max(0, shortfall) }
  })
}

function referenceSpans(scorecard: readonly ScoreLine[]): Required<PointSpan>[] {
  return scorecard.map(({ shortfall }) => ({ from: 0, to: -shortfall, missed: 0 }))
}

function axisOver(points: readonly number[]): Scale {
  const [low = 0, high = 0] = extent(points.filter(isDrawable))
  const room = Math.max(ROOM_MIN, (high - low) * ROOM_SHARE)
  return percentAxis([low - room, high + room]).nice(NICE)
}

/** An axis with zero in its middle. */
function axisAround(points: readonly number[]): Scale {
  const most = Math.max(ROOM_MIN, ...points.filter(isDrawable).map(Math.abs)) * (1 + ROOM_SHARE)
  return percentAxis([-most, most])
}

function percentAxis(domain: [number, number]) {
  return scaleLinear(domain, [0, 100]).clamp(true).unknown(0)
}

function ticksOf(scale: Scale): AxisLine[] {
  return scale.ticks(TICKS).map((tick) => ({ at: scale(tick), name: writeDecimal(tick), kind: 'tick' }))
}
