import { useId } from 'react'
import { PageLink, useGoTo } from '../page-link.tsx'
import type { PageTarget } from '../page-search.ts'
import { writeCount, writeShortCount } from '../write-number.ts'
import { ChartFrame, ColumnLabels, LeftAxis, type Series, TooltipRows } from './chart-frame.tsx'
import classes from './charts.module.css'
import type { BarLayout, Column, Plot } from './layout/chart-layout.ts'
import { layOutStack } from './layout/lay-out-stack.ts'

/** One bar: a day or an hour with a value for each series. */
export interface Bar {
  key: string
  /** Below the axis: "11 Nov". */
  label: string
  /** In the tooltip and the table: "Wed 11 Nov". */
  title: string
  values: Readonly<Record<string, number>>
  /** The page that lists what the bar counts, with its search string. */
  link?: PageTarget
}

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
  const keys = series.map(({ key }) => key)
  const goTo = useGoTo()
  const open = (index: number) => {
    const link = bars[index]?.link
    if (link) goTo(link)
  }
  return (
    <ChartFrame
      label={label}
      count={bars.length}
      {...(bars.some(({ link }) => link) && { onOpen: open })}
      minWidth={minWidth}
      hasStillAxis
      layOut={(width) => layOutStack({ keys, columns: bars, write: writeShortCount, width, height })}
      tooltip={(index) => (
        <TooltipRows
          title={`${bars[index]!.title} · ${writeCount(totals[index]!)}`}
          rows={series.map((each) => ({ series: each, value: writeCount(bars[index]!.values[each.key] ?? 0) }))}
        />
      )}
      table={{
        head: ['When', ...series.map(({ name }) => name), 'Total'],
        rows: bars.map((bar, index) => [
          bar.title,
          ...keys.map((key) => writeCount(bar.values[key] ?? 0)),
          writeCount(totals[index]!),
        ]),
      }}
    >
      {({ layout, active, setActive }) => (
        <BarDrawing series={series} bars={bars} layout={layout} active={active} setActive={setActive} />
      )}
    </ChartFrame>
  )
}

interface BarDrawingProps {
  series: readonly Series[]
  bars: readonly Bar[]
  layout: BarLayout
  active: number | undefined
  setActive: (index: number | undefined) => void
}

function BarDrawing({ series, bars, layout, active, setActive }: BarDrawingProps) {
  const patternId = useId()
  const fills = new Map(series.map((each) => [each.key, fillOf(each, patternId)]))
  return (
    <svg width={layout.width} height={layout.height} className={classes.drawing} aria-hidden="true">
      <Hatches id={patternId} series={series} />
      <LeftAxis {...layout} />
      {layout.columns.map((column, index) => (
        <BarColumn
          key={bars[index]!.key}
          link={bars[index]!.link}
          column={column}
          plot={layout.plot}
          fills={fills}
          isActive={active === index}
          onEnter={() => setActive(index)}
        />
      ))}
      <ColumnLabels {...layout} />
    </svg>
  )
}

function BarColumn({
  link,
  column,
  plot,
  fills,
  isActive,
  onEnter,
}: {
  link: PageTarget | undefined
  column: Column
  plot: Plot
  fills: ReadonlyMap<string, string>
  isActive: boolean
  onEnter: () => void
}) {
  const drawn = (
    <g onPointerEnter={onEnter}>
      <rect
        x={column.x}
        y={plot.top}
        width={column.width}
        height={plot.bottom - plot.top}
        className={isActive ? classes.activeBand : classes.band}
      />
      {column.bars.map(({ key, ...place }) => (
        <rect key={key} {...place} rx={1.5} fill={fills.get(key)} />
      ))}
    </g>
  )
  if (!link) return drawn
  return (
    <PageLink {...link} tabIndex={-1}>
      {drawn}
    </PageLink>
  )
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
