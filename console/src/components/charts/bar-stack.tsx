import { useRouter } from '@tanstack/react-router'
import { useId } from 'react'
import { useFollow, usePageHref } from '../page-link.tsx'
import { ChartFrame, type Series, TooltipRows } from './chart-frame.tsx'
import { labelledIndexes, niceTicks } from './chart-scale.ts'
import classes from './charts.module.css'

/** One bar: a day or an hour with a value for each series. */
export interface Bar {
  key: string
  /** Below the axis: "Nov 11". */
  label: string
  /** In the tooltip and the table: "Wed, Nov 11". */
  title: string
  values: Readonly<Record<string, number>>
  /** The page that lists what the bar counts, with its search string. */
  link?: string
}

const PADDING = { top: 8, right: 6, bottom: 24, left: 40 }
const LABEL_WIDTH = 56
/** Between the parts of a bar. */
const GAP = 1.5

/** Bars stacked by series, for counts over time. */
export function BarStack({
  label,
  series,
  bars,
  height = 236,
  minWidth = 560,
}: {
  label: string
  /** From the bottom up. */
  series: readonly Series[]
  bars: readonly Bar[]
  height?: number
  minWidth?: number
}) {
  const totals = bars.map((bar) => series.reduce((sum, { key }) => sum + (bar.values[key] ?? 0), 0))
  const ticks = niceTicks(Math.max(1, ...totals)).filter(Number.isInteger)
  const bandOf = (width: number) => (width - PADDING.left - PADDING.right) / Math.max(1, bars.length)
  const yOf = (value: number) => heightOf(value, { ticks, height })
  const href = usePageHref()
  const router = useRouter()
  const open = (index: number) => {
    const link = bars[index]?.link
    if (link) router.history.push(href(link))
  }
  return (
    <ChartFrame
      label={label}
      count={bars.length}
      {...(bars.some(({ link }) => link) && { onOpen: open })}
      minWidth={minWidth}
      axis={{ width: PADDING.left - 8, height, ticks: ticks.map((tick) => ({ y: yOf(tick), label: count(tick) })) }}
      centerOf={(index, width) => PADDING.left + (index + 0.5) * bandOf(width)}
      tooltip={(index) => (
        <TooltipRows
          title={`${bars[index]!.title} · ${count(totals[index]!)}`}
          rows={series.map((each) => ({ series: each, value: count(bars[index]!.values[each.key] ?? 0) }))}
        />
      )}
      table={{
        head: ['When', ...series.map(({ name }) => name), 'Total'],
        rows: bars.map((bar, index) => [
          bar.title,
          ...series.map(({ key }) => count(bar.values[key] ?? 0)),
          count(totals[index]!),
        ]),
      }}
    >
      {({ width, active, setActive }) => (
        <BarDrawing {...{ series, bars, ticks, width, height, band: bandOf(width), active, setActive }} />
      )}
    </ChartFrame>
  )
}

function heightOf(value: number, { ticks, height }: { ticks: readonly number[]; height: number }): number {
  const bottom = height - PADDING.bottom
  return bottom - (value / ticks.at(-1)!) * (bottom - PADDING.top)
}

interface BarDrawingProps {
  series: readonly Series[]
  bars: readonly Bar[]
  ticks: readonly number[]
  width: number
  height: number
  band: number
  active: number | undefined
  setActive: (index: number | undefined) => void
}

function BarDrawing({ series, bars, ticks, width, height, band, active, setActive }: BarDrawingProps) {
  const patternId = useId()
  const bottom = height - PADDING.bottom
  const yOf = (value: number) => heightOf(value, { ticks, height })
  const labelled = labelledIndexes(bars.length, Math.floor((width - PADDING.left) / LABEL_WIDTH))
  return (
    <svg width={width} height={height} className={classes.drawing} aria-hidden="true">
      <Hatches id={patternId} series={series} />
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            className={classes.gridLine}
            x1={PADDING.left - 8}
            x2={width - PADDING.right}
            y1={yOf(tick)}
            y2={yOf(tick)}
          />
          <text x={PADDING.left - 16} y={yOf(tick) + 4} textAnchor="end">
            {count(tick)}
          </text>
        </g>
      ))}
      {bars.map((bar, index) => (
        <BarColumn
          key={bar.key}
          bar={bar}
          x={PADDING.left + index * band}
          band={band}
          area={{ top: PADDING.top, bottom }}
          isActive={active === index}
          onEnter={() => setActive(index)}
          parts={partsOf(bar, series, yOf).map((part) => ({ ...part, fill: fillOf(part.series, patternId) }))}
        />
      ))}
      {bars.map(
        (bar, index) =>
          labelled.has(index) && (
            <text
              key={bar.key}
              x={Math.min(PADDING.left + (index + 0.5) * band, width - LABEL_WIDTH / 2)}
              y={height - 6}
              textAnchor="middle"
            >
              {bar.label}
            </text>
          ),
      )}
    </svg>
  )
}

function BarColumn({
  bar,
  x,
  band,
  area,
  isActive,
  onEnter,
  parts,
}: {
  bar: Bar
  x: number
  band: number
  area: { top: number; bottom: number }
  isActive: boolean
  onEnter: () => void
  parts: readonly { series: Series; y: number; height: number; fill: string }[]
}) {
  const barWidth = Math.max(2, Math.min(40, band * 0.78))
  const href = usePageHref()
  const follow = useFollow()
  const drawn = (
    <g onPointerEnter={onEnter}>
      <rect
        x={x}
        y={area.top}
        width={band}
        height={area.bottom - area.top}
        className={isActive ? classes.activeBand : classes.band}
      />
      {parts.map((part) => (
        <rect
          key={part.series.key}
          x={x + (band - barWidth) / 2}
          y={part.y}
          width={barWidth}
          height={part.height}
          rx={1.5}
          fill={part.fill}
        />
      ))}
    </g>
  )
  if (!bar.link) return drawn
  const target = href(bar.link)
  return (
    <a href={target} tabIndex={-1} onClick={(event) => follow(event, target)}>
      {drawn}
    </a>
  )
}

function partsOf(bar: Bar, series: readonly Series[], yOf: (value: number) => number) {
  let below = 0
  return series.flatMap((each) => {
    const value = bar.values[each.key] ?? 0
    if (value === 0) return []
    const bottom = yOf(below)
    below += value
    const top = yOf(below)
    return [{ series: each, y: top, height: Math.max(1, bottom - top - GAP) }]
  })
}

/** Hatch patterns of the series that need one. */
function Hatches({ id, series }: { id: string; series: readonly Series[] }) {
  return (
    <defs>
      {series
        .filter(({ hatched }) => hatched)
        .map(({ key, color }) => (
          <pattern
            key={key}
            id={`${id}-${key}`}
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="5" height="5" style={{ fill: color }} />
            <rect width="1.5" height="5" style={{ fill: 'var(--surface)' }} opacity=".45" />
          </pattern>
        ))}
    </defs>
  )
}

function fillOf({ key, color, hatched }: Series, patternId: string): string {
  return hatched ? `url(#${patternId}-${key})` : color
}

function count(value: number): string {
  return value.toLocaleString('en-GB')
}
