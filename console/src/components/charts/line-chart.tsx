import { bisectCenter } from 'd3-array'
import { ChartFrame, type Series, TooltipRows } from './chart-frame.tsx'
import classes from './charts.module.css'
import { type LineLayout, layOutLines, type SeriesLine } from './layout/lay-out-lines.ts'
import { isDrawable } from './layout/value-axis.ts'

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

/** Lines over time, with the axis at the right. The first series also fills the area below it. */
export function LineChart({
  label,
  series,
  points,
  write,
  writeTick = write,
  stepMin,
  hasZero = true,
  mark,
  height = 136,
  minWidth = 280,
}: {
  label: string
  series: readonly Series[]
  points: readonly Point[]
  /** How a value is written: `(ms) => `${ms} ms``. */
  write: (value: number) => string
  /** How the axis writes a value, if it is shorter. */
  writeTick?: (value: number) => string
  /** The smallest step that the axis tells apart, a power of ten: 1 for whole percents. */
  stepMin: number
  /** Otherwise the axis starts near the smallest value, which the chart says by its labels. */
  hasZero?: boolean
  mark?: Mark | undefined
  height?: number
  minWidth?: number
}) {
  const keys = series.map(({ key }) => key)
  const cell = ({ values }: Point, key: string) => (isDrawable(values[key]) ? write(values[key]) : 'none')
  if (!points.some(({ values }) => keys.some((key) => isDrawable(values[key]))))
    return <p className="dim">Nothing in this time.</p>
  const marked = mark && { index: points.findIndex(({ key }) => key === mark.at), label: mark.label }
  return (
    <ChartFrame
      label={label}
      count={points.length}
      minWidth={minWidth}
      layOut={(width) => layOutLines({ keys, points, write: writeTick, hasZero, stepMin, mark: marked, width, height })}
      tooltip={(index) => (
        <TooltipRows
          title={points[index]!.title}
          rows={series.map((each) => ({ series: each, value: cell(points[index]!, each.key) }))}
        />
      )}
      table={{
        head: ['When', ...series.map(({ name }) => name)],
        rows: points.map((point) => [point.title, ...keys.map((key) => cell(point, key))]),
      }}
    >
      {({ layout, active, setActive }) => (
        <LineDrawing series={series} layout={layout} active={active} setActive={setActive} />
      )}
    </ChartFrame>
  )
}

interface LineDrawingProps {
  series: readonly Series[]
  layout: LineLayout
  active: number | undefined
  setActive: (index: number | undefined) => void
}

function LineDrawing({ series, layout, active, setActive }: LineDrawingProps) {
  const { width, height, plot, ticks, centers, lines, labels, mark } = layout
  return (
    <svg
      width={width}
      height={height}
      className={classes.drawing}
      aria-hidden="true"
      onPointerMove={(event) => {
        const offset = event.clientX - event.currentTarget.getBoundingClientRect().left
        setActive(bisectCenter(centers, offset))
      }}
    >
      {ticks.map(({ value, label, y }) => (
        <g key={value}>
          <line className={classes.gridLine} x1={plot.left} x2={plot.right} y1={y} y2={y} />
          <text x={width - 2} y={y + 4} textAnchor="end">
            {label}
          </text>
        </g>
      ))}
      {lines.map((line, index) => (
        <DrawnLine key={line.key} line={line} series={series[index]!} hasArea={index === 0} />
      ))}
      {mark && (
        <g>
          <line className={classes.markLine} x1={mark.at} x2={mark.at} y1={4} y2={plot.bottom} />
          <text x={mark.x} y={12} textAnchor={mark.anchor}>
            {mark.text}
          </text>
        </g>
      )}
      {active !== undefined && (
        <line className={classes.cursor} x1={centers[active]} x2={centers[active]} y1={plot.top} y2={plot.bottom} />
      )}
      {labels.map(({ x, anchor, text }) => (
        <text key={anchor} x={x} y={height - 4} textAnchor={anchor}>
          {text}
        </text>
      ))}
    </svg>
  )
}

function DrawnLine({
  line: { path, area, lone },
  series: { color, dash },
  hasArea,
}: {
  line: SeriesLine
  series: Series
  hasArea: boolean
}) {
  return (
    <g>
      {hasArea && <path d={area} style={{ fill: color }} opacity=".09" />}
      <path d={path} className={classes.line} style={{ stroke: color, strokeDasharray: dash }} />
      {lone.map(({ x, y }) => (
        <circle key={x} cx={x} cy={y} r={2.5} style={{ fill: color }} />
      ))}
    </g>
  )
}
