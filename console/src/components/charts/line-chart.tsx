import { ChartFrame, type Series, TooltipRows } from './chart-frame.tsx'
import { niceTicks } from './chart-scale.ts'
import classes from './charts.module.css'

/** A moment of a line chart; a series without a value there leaves a gap. */
export interface Point {
  key: string
  /** Below the axis, at the ends: "18 Oct". */
  label: string
  /** In the tooltip and the table. */
  title: string
  values: Readonly<Record<string, number | null>>
}

/** A vertical line with words, such as the activation of a policy. */
export interface Mark {
  /** The key of a point. */
  at: string
  label: string
}

const PADDING = { top: 14, right: 52, bottom: 22, left: 2 }

/** Lines over time, with the axis at the right. The first series also fills the area below it. */
export function LineChart({
  label,
  series,
  points,
  write,
  startsAtZero = true,
  mark,
  height = 136,
  minWidth = 280,
}: {
  label: string
  series: readonly Series[]
  points: readonly Point[]
  /** How a value is written: `(ms) => `${ms} ms``. */
  write: (value: number) => string
  /** Otherwise the axis starts near the smallest value, which the chart says by its labels. */
  startsAtZero?: boolean
  mark?: Mark | undefined
  height?: number
  minWidth?: number
}) {
  const values = points.flatMap((point) => series.flatMap(({ key }) => point.values[key] ?? []))
  const ticks = niceTicks(Math.max(...values) || 1, {
    min: startsAtZero ? 0 : Math.min(...values),
    count: 3,
  })
  const cell = (point: Point, key: string) => (point.values[key] == null ? 'none' : write(point.values[key]))
  if (values.length === 0) return <p className="dim">Nothing in this time.</p>
  return (
    <ChartFrame
      label={label}
      count={points.length}
      minWidth={minWidth}
      centerOf={(index, width) => xOf(index, points.length, width)}
      tooltip={(index) => (
        <TooltipRows
          title={points[index]!.title}
          rows={series.map((each) => ({ series: each, value: cell(points[index]!, each.key) }))}
        />
      )}
      table={{
        head: ['When', ...series.map(({ name }) => name)],
        rows: points.map((point) => [point.title, ...series.map(({ key }) => cell(point, key))]),
      }}
    >
      {({ width, active, setActive }) => (
        <LineDrawing {...{ series, points, ticks, write, mark, width, height, active, setActive }} />
      )}
    </ChartFrame>
  )
}

interface LineDrawingProps {
  series: readonly Series[]
  points: readonly Point[]
  ticks: readonly number[]
  write: (value: number) => string
  mark: Mark | undefined
  width: number
  height: number
  active: number | undefined
  setActive: (index: number | undefined) => void
}

function LineDrawing({ series, points, ticks, write, mark, width, height, active, setActive }: LineDrawingProps) {
  const bottom = height - PADDING.bottom
  const [low, high] = [ticks[0]!, ticks.at(-1)!]
  const yOf = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - PADDING.top)
  const x = (index: number) => xOf(index, points.length, width)
  const right = width - PADDING.right
  const markAt = mark ? points.findIndex(({ key }) => key === mark.at) : -1
  return (
    <svg
      width={width}
      height={height}
      className={classes.drawing}
      aria-hidden="true"
      onPointerMove={(event) => {
        const offset = event.clientX - event.currentTarget.getBoundingClientRect().left
        const step = (right - PADDING.left) / Math.max(1, points.length - 1)
        setActive(Math.min(points.length - 1, Math.max(0, Math.round((offset - PADDING.left) / step))))
      }}
    >
      {ticks.map((tick) => (
        <g key={tick}>
          <line className={classes.gridLine} x1={PADDING.left} x2={right} y1={yOf(tick)} y2={yOf(tick)} />
          <text x={width} y={yOf(tick) + 4} textAnchor="end">
            {write(tick)}
          </text>
        </g>
      ))}
      {series.map((each, index) => (
        <SeriesLine
          key={each.key}
          series={each}
          points={points}
          x={x}
          yOf={yOf}
          bottom={bottom}
          hasArea={index === 0}
        />
      ))}
      {markAt >= 0 && (
        <g>
          <line className={classes.markLine} x1={x(markAt)} x2={x(markAt)} y1={4} y2={bottom} />
          <text
            x={x(markAt) + (markAt > points.length / 2 ? -4 : 4)}
            y={12}
            textAnchor={markAt > points.length / 2 ? 'end' : 'start'}
          >
            {mark!.label}
          </text>
        </g>
      )}
      {active !== undefined && (
        <line className={classes.cursor} x1={x(active)} x2={x(active)} y1={PADDING.top} y2={bottom} />
      )}
      <text x={PADDING.left} y={height - 4}>
        {points[0]?.label}
      </text>
      <text x={right} y={height - 4} textAnchor="end">
        {points.at(-1)?.label}
      </text>
    </svg>
  )
}

function SeriesLine({
  series: { key, color, dash },
  points,
  x,
  yOf,
  bottom,
  hasArea,
}: {
  series: Series
  points: readonly Point[]
  x: (index: number) => number
  yOf: (value: number) => number
  bottom: number
  hasArea: boolean
}) {
  return runsOf(points, key).map((run) => {
    const line = run.map((at) => `${x(at)} ${yOf(points[at]!.values[key]!)}`).join('L')
    const area = `M${line}L${x(run.at(-1)!)} ${bottom}L${x(run[0]!)} ${bottom}Z`
    return (
      <g key={run[0]}>
        {hasArea && <path d={area} style={{ fill: color }} opacity=".09" />}
        <path
          d={`M${line}${run.length === 1 ? 'h.01' : ''}`}
          className={classes.line}
          style={{ stroke: color, strokeDasharray: dash }}
        />
      </g>
    )
  })
}

function xOf(index: number, count: number, width: number): number {
  return PADDING.left + (index / Math.max(1, count - 1)) * (width - PADDING.left - PADDING.right)
}

/** The stretches of points that have a value: a gap ends a line. */
function runsOf(points: readonly Point[], key: string): number[][] {
  const runs: number[][] = []
  let run: number[] = []
  points.forEach((point, index) => {
    if (point.values[key] != null) run.push(index)
    else if (run.length > 0) {
      runs.push(run)
      run = []
    }
  })
  return run.length > 0 ? [...runs, run] : runs
}
