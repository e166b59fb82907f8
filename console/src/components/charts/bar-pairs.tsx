import { ChartFrame, type Series, TooltipRows } from './chart-frame.tsx'
import { labelledIndexes, niceTicks } from './chart-scale.ts'
import classes from './charts.module.css'

/** A group of bars that stand side by side: a month with a value for each series. */
export interface BarGroup {
  key: string
  /** Below the axis: "Nov 26". */
  label: string
  /** In the tooltip and the table. */
  title: string
  values: Readonly<Record<string, number>>
}

const PADDING = { top: 8, right: 6, bottom: 24, left: 64 }
const LABEL_WIDTH = 52

/** Bars side by side, for amounts that are compared and do not add up, such as money in and out. */
export function BarPairs({
  label,
  series,
  bars,
  write,
  height = 200,
  minWidth = 520,
}: {
  label: string
  series: readonly Series[]
  bars: readonly BarGroup[]
  write: (value: number) => string
  height?: number
  minWidth?: number
}) {
  const ticks = niceTicks(Math.max(1, ...bars.flatMap(({ values }) => Object.values(values))))
  const yOf = (value: number) => heightOf(value, { ticks, height })
  const bandOf = (width: number) => (width - PADDING.left - PADDING.right) / Math.max(1, bars.length)
  return (
    <ChartFrame
      label={label}
      count={bars.length}
      minWidth={minWidth}
      axis={{ width: PADDING.left, height, ticks: ticks.map((tick) => ({ y: yOf(tick), label: write(tick) })) }}
      centerOf={(index, width) => PADDING.left + (index + 0.5) * bandOf(width)}
      tooltip={(index) => (
        <TooltipRows
          title={bars[index]!.title}
          rows={series.map((each) => ({ series: each, value: write(bars[index]!.values[each.key] ?? 0) }))}
        />
      )}
      table={{
        head: ['When', ...series.map(({ name }) => name)],
        rows: bars.map(({ title, values }) => [title, ...series.map(({ key }) => write(values[key] ?? 0))]),
      }}
    >
      {({ width, setActive }) => (
        <PairDrawing {...{ series, bars, ticks, write, width, height, band: bandOf(width), setActive }} />
      )}
    </ChartFrame>
  )
}

function heightOf(value: number, { ticks, height }: { ticks: readonly number[]; height: number }): number {
  const bottom = height - PADDING.bottom
  return bottom - (value / ticks.at(-1)!) * (bottom - PADDING.top)
}

interface PairDrawingProps {
  series: readonly Series[]
  bars: readonly BarGroup[]
  ticks: readonly number[]
  write: (value: number) => string
  width: number
  height: number
  band: number
  setActive: (index: number | undefined) => void
}

function PairDrawing({ series, bars, ticks, write, width, height, band, setActive }: PairDrawingProps) {
  const bottom = height - PADDING.bottom
  const yOf = (value: number) => heightOf(value, { ticks, height })
  const barWidth = Math.min(14, (band - 6) / series.length)
  const labelled = labelledIndexes(bars.length, Math.max(1, Math.floor((width - PADDING.left) / LABEL_WIDTH)))
  return (
    <svg width={width} height={height} aria-hidden="true" className={classes.drawing}>
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            className={classes.gridLine}
            x1={PADDING.left}
            x2={width - PADDING.right}
            y1={yOf(tick)}
            y2={yOf(tick)}
          />
          <text x={PADDING.left - 8} y={yOf(tick) + 4} textAnchor="end">
            {write(tick)}
          </text>
        </g>
      ))}
      {bars.map((bar, index) => (
        <g key={bar.key} onPointerEnter={() => setActive(index)}>
          <rect x={PADDING.left + index * band} y={0} width={band} height={height} fill="transparent" />
          {series.map(({ key, color }, place) => {
            const y = yOf(bar.values[key] ?? 0)
            const x = PADDING.left + (index + 0.5) * band + (place - series.length / 2) * (barWidth + 1)
            return <rect key={key} x={x} y={y} width={barWidth} height={bottom - y} rx={2} fill={color} />
          })}
          {labelled.has(index) && (
            <text x={PADDING.left + (index + 0.5) * band} y={height - 6} textAnchor="middle">
              {bar.label}
            </text>
          )}
        </g>
      ))}
    </svg>
  )
}
