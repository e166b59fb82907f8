import { ChartFrame, ColumnLabels, LeftAxis, type Series, TooltipRows } from './chart-frame.tsx'
import classes from './charts.module.css'
import type { BarLayout } from './layout/chart-layout.ts'
import { layOutPairs } from './layout/lay-out-pairs.ts'

/** A group of bars that stand side by side: a month with a value for each series. */
export interface BarGroup {
  key: string
  /** Below the axis: "Nov 2026". */
  label: string
  /** In the tooltip and the table. */
  title: string
  values: Readonly<Record<string, number>>
}

/** Bars side by side, for amounts that are compared and do not add up, such as money in and out. */
export function BarPairs({
  label,
  series,
  bars,
  write,
  writeTick = write,
  height = 200,
  minWidth = 520,
}: {
  label: string
  series: readonly Series[]
  bars: readonly BarGroup[]
  write: (value: number) => string
  /** How the axis writes a value, if it is shorter. */
  writeTick?: (value: number) => string
  height?: number
  minWidth?: number
}) {
  const keys = series.map(({ key }) => key)
  return (
    <ChartFrame
      label={label}
      count={bars.length}
      minWidth={minWidth}
      hasStillAxis
      layOut={(width) => layOutPairs({ keys, columns: bars, write: writeTick, width, height })}
      tooltip={(index) => (
        <TooltipRows
          title={bars[index]!.title}
          rows={series.map((each) => ({ series: each, value: write(bars[index]!.values[each.key] ?? 0) }))}
        />
      )}
      table={{
        head: ['When', ...series.map(({ name }) => name)],
        rows: bars.map(({ title, values }) => [title, ...keys.map((key) => write(values[key] ?? 0))]),
      }}
    >
      {({ layout, setActive }) => <PairDrawing series={series} bars={bars} layout={layout} setActive={setActive} />}
    </ChartFrame>
  )
}

interface PairDrawingProps {
  series: readonly Series[]
  bars: readonly BarGroup[]
  layout: BarLayout
  setActive: (index: number | undefined) => void
}

function PairDrawing({ series, bars, layout, setActive }: PairDrawingProps) {
  const colors = new Map(series.map(({ key, color }) => [key, color]))
  return (
    <svg width={layout.width} height={layout.height} aria-hidden="true" className={classes.drawing}>
      <LeftAxis {...layout} />
      {layout.columns.map((column, index) => (
        <g key={bars[index]!.key} onPointerEnter={() => setActive(index)}>
          <rect x={column.x} y={0} width={column.width} height={layout.height} fill="transparent" />
          {column.bars.map(({ key, ...place }) => (
            <rect key={key} {...place} rx={2} fill={colors.get(key)} />
          ))}
        </g>
      ))}
      <ColumnLabels {...layout} />
    </svg>
  )
}
