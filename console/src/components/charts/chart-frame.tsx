import { useElementSize, useMergedRef } from '@mantine/hooks'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import classes from './charts.module.css'
import type { BarLayout, ChartLayout } from './layout/chart-layout.ts'

/** A series of a chart: its name and how its marks look. */
export interface Series {
  key: string
  name: string
  /** A colour token, such as `var(--ok-c)`. */
  color: string
  /** Hatches the marks, for declines and failures: they must not differ by colour alone. */
  hatched?: boolean
  /** The dashes of a line, such as `5 3`: lines must not differ by colour alone. */
  dash?: string
  icon?: ReactNode
}

/** What a chart draws: where everything lies, and the column under the pointer or the arrow keys. */
export interface ChartCanvas<Layout> {
  layout: Layout
  active: number | undefined
  setActive: (index: number | undefined) => void
}

/** What the frame of a chart needs. */
interface ChartFrameProps<Layout extends ChartLayout> {
  /** What the chart shows, for screen readers: "Decisions by day, stacked by verdict". */
  label: string
  count: number
  /** Below this width the chart scrolls sideways rather than shrink its text. */
  minWidth: number
  /** Lays the chart out in the width that it has. */
  layOut: (width: number) => Layout
  tooltip: (index: number) => ReactNode
  /** Opens the list behind a column, by Enter. */
  onOpen?: (index: number) => void
  table: { head: readonly string[]; rows: readonly (readonly string[])[] }
  /** Whether the axis is at the left, where it stays in sight while the chart scrolls sideways. */
  hasStillAxis?: boolean
  children: (canvas: ChartCanvas<Layout>) => ReactNode
}

/** The frame of every chart: sideways scrolling, a tooltip that the arrow keys move, and the same figures as a table. */
export function ChartFrame<Layout extends ChartLayout>(props: ChartFrameProps<Layout>) {
  const { label, count, minWidth, layOut, tooltip, onOpen, table, hasStillAxis, children } = props
  const { ref, width: available } = useElementSize()
  const frame = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<number>()
  const width = Math.max(available, minWidth)
  useEffect(() => {
    // Where the chart scrolls, its newest end is what people look for.
    if (available > 0 && frame.current) frame.current.scrollLeft = width
  }, [available, width])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (event.key === 'Escape') setActive(undefined)
    if (event.key === 'Enter' && active !== undefined) onOpen?.(active)
    if (step === undefined || count === 0) return
    event.preventDefault()
    setActive((current) => Math.min(count - 1, Math.max(0, current === undefined ? count - 1 : current + step)))
  }
  const layout = layOut(width)
  return (
    <>
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: the arrow keys move the tooltip, and a region that scrolls must be reachable */}
      {/* biome-ignore lint/a11y/useSemanticElements: a figure would not take the keyboard focus */}
      <div
        ref={useMergedRef(ref, frame)}
        className={classes.frame}
        tabIndex={0}
        role="group"
        aria-label={`${label}. The arrow keys read the values${onOpen ? ', Enter opens their list' : ''}.`}
        onKeyDown={onKeyDown}
        onBlur={() => setActive(undefined)}
        onPointerLeave={() => setActive(undefined)}
      >
        {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: see above */}
        {available > 0 && (
          <div className={classes.canvas} style={{ width }}>
            {hasStillAxis && width > available && <StillAxis layout={layout} />}
            {children({ layout, active, setActive })}
            {active !== undefined && layout.centers[active] !== undefined && (
              <Tooltip center={layout.centers[active]} width={width}>
                {tooltip(active)}
              </Tooltip>
            )}
          </div>
        )}
      </div>
      <FiguresTable label={label} {...table} />
    </>
  )
}

/** The values of the axis over the drawing, at the left edge of what is in sight. */
function StillAxis({ layout: { plot, height, ticks } }: { layout: ChartLayout }) {
  return (
    <div className={classes.stillAxis}>
      <svg width={plot.left} height={height} className={classes.drawing} aria-hidden="true">
        <LeftLabels left={plot.left} ticks={ticks} />
      </svg>
    </div>
  )
}

/** The lines of an axis across the plot, and their values at its left. */
export function LeftAxis({ plot: { left, right }, ticks }: ChartLayout) {
  return (
    <>
      {ticks.map(({ value, y }) => (
        <line key={value} className={classes.gridLine} x1={left} x2={right} y1={y} y2={y} />
      ))}
      <LeftLabels left={left} ticks={ticks} />
    </>
  )
}

function LeftLabels({ left, ticks }: { left: number; ticks: ChartLayout['ticks'] }) {
  return ticks.map(({ value, label, y }) => (
    <text key={value} x={left - 8} y={y + 4} textAnchor="end">
      {label}
    </text>
  ))
}

/** The words below the columns of a chart. */
export function ColumnLabels({ labels, height }: BarLayout) {
  return labels.map(({ index, x, text }) => (
    <text key={index} x={x} y={height - 6} textAnchor="middle">
      {text}
    </text>
  ))
}

const TOOLTIP_WIDTH = 188

function Tooltip({ center, width, children }: { center: number; width: number; children: ReactNode }) {
  const left = center + 14 + TOOLTIP_WIDTH > width ? center - 14 - TOOLTIP_WIDTH : center + 14
  return (
    <div className={classes.tooltip} role="status" style={{ left: Math.max(0, left), width: TOOLTIP_WIDTH }}>
      {children}
    </div>
  )
}

function FiguresTable({ label, head, rows }: { label: string } & ChartFrameProps<ChartLayout>['table']) {
  return (
    // A hidden table would keep its height, and lengthen the page by it.
    <div className="visually-hidden">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is known by its column
                <td key={index}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The lines of a tooltip: a heading, then one line for each series. */
export function TooltipRows({ title, rows }: { title: string; rows: readonly { series: Series; value: string }[] }) {
  return (
    <>
      <div className={classes.tooltipTitle}>{title}</div>
      {rows.map(({ series, value }) => (
        <div key={series.key} className={classes.tooltipRow}>
          <span>
            <SeriesMark series={series} />
            {series.name}
          </span>
          <b>{value}</b>
        </div>
      ))}
    </>
  )
}

/** The names of the series beside their marks; `line` draws the marks of lines. */
export function Legend({ series, line = false }: { series: readonly Series[]; line?: boolean }) {
  return (
    <ul className={classes.legend}>
      {series.map((each) => (
        <li key={each.key}>
          <SeriesMark series={each} line={line} />
          {each.name}
        </li>
      ))}
    </ul>
  )
}

function SeriesMark({ series, line = false }: { series: Series; line?: boolean }) {
  const { color, hatched } = series
  const background = hatched
    ? `repeating-linear-gradient(135deg, ${color} 0 3px, color-mix(in srgb, ${color} 60%, var(--surface)) 3px 5px)`
    : color
  if (line)
    return (
      <svg className={classes.lineMark} width="16" height="4" aria-hidden="true">
        <line x2="16" y1="2" y2="2" style={{ stroke: color, strokeDasharray: series.dash }} />
      </svg>
    )
  return <i className={classes.mark} style={{ background }} aria-hidden="true" />
}
