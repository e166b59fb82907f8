import { SegmentedControl } from '@mantine/core'
import { type CSSProperties, useState } from 'react'
import { StateBadge } from '../components/state-badge.tsx'
import { FoldSection } from './fold-section.tsx'
import type { ViewData } from './view-data.ts'
import classes from './waterfall.module.css'
import { binWriter, featureWriter, writeDecimal, writePoints } from './write-feature.ts'

type Score = NonNullable<ViewData['evidence']['score']>

/** A row of the waterfall: from where to where its bar goes, and what it misses against the reference. */
interface Bar {
  from: number
  to: number
  missed: number
}

/** The points of the scorecard from base to score, as a table with bars and the cutoffs. */
export function Waterfall({ view }: { view: ViewData }) {
  const [mode, setMode] = useState<'running' | 'reference'>('running')
  const { score, scorecard } = view.evidence
  if (!score) return null
  return (
    <FoldSection
      title="From base to score"
      sub="Every point that the scorecard gave"
      flush
      isOpenOnPhone
      end={
        <SegmentedControl
          size="xs"
          value={mode}
          onChange={(value) => setMode(value as typeof mode)}
          data={[
            { value: 'running', label: 'Running total' },
            { value: 'reference', label: 'Against reference' },
          ]}
          aria-label="What the bars show"
        />
      }
      footer={<Legend mode={mode} view={view} score={score} />}
    >
      {scorecard.length === 0 ? (
        <p className={classes.none}>The policy gives no points by characteristics.</p>
      ) : (
        <Table view={view} score={score} mode={mode} />
      )}
    </FoldSection>
  )
}

interface Drawn {
  view: ViewData
  score: Score
  scale: Scale
  lines: readonly Line[]
}

function Table({ view, score, mode }: { view: ViewData; score: Score; mode: 'running' | 'reference' }) {
  const isRunning = mode === 'running'
  const scale = isRunning ? scaleOf(view, score) : referenceScale(view)
  const lines = isRunning ? linesOf(score, scale) : [{ at: place(0, scale), name: 'Reference', kind: 'cutoff' }]
  const drawn = { view, score, scale, lines }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section className={classes.scroll} aria-label="Points by characteristic" tabIndex={0}>
      <table className={classes.table}>
        <caption className="visually-hidden">
          Points by characteristic, from base {writeDecimal(score.base)} to score {writeDecimal(score.total)}; the
          cutoff is {score.cutoff}
        </caption>
        <thead>
          <tr>
            <th scope="col">Characteristic</th>
            <th scope="col" data-end>
              Actual
            </th>
            <th scope="col" className={classes.axis}>
              <span className="visually-hidden">Bar</span>
              <AxisWords lines={lines} />
            </th>
            <th scope="col" data-end>
              Points
            </th>
            <th scope="col" data-end>
              vs ref.
            </th>
          </tr>
        </thead>
        <tbody>
          {isRunning && <BaseRow {...drawn} />}
          <CharacteristicRows {...drawn} bars={isRunning ? runningBars(view, score) : referenceBars(view)} />
          {isRunning && <RulePointsRow {...drawn} />}
        </tbody>
        {isRunning && <TotalRow {...drawn} />}
      </table>
    </section>
  )
}

function BaseRow({ score, scale, lines }: Drawn) {
  return (
    <tr>
      <th scope="row">Base</th>
      <td />
      <BarCell bar={{ from: scale.from, to: score.base, missed: 0 }} scale={scale} lines={lines} tone="base" />
      <td data-end>{writeDecimal(score.base)}</td>
      <td data-end className="dim">
        –
      </td>
    </tr>
  )
}

function CharacteristicRows({ view, scale, lines, bars }: Drawn & { bars: readonly Bar[] }) {
  const write = featureWriter(view)
  const writeBin = binWriter(view)
  return view.evidence.scorecard.map((line, index) => (
    <tr key={line.characteristic}>
      <th scope="row">
        {line.label}
        <code>{line.feature}</code>
      </th>
      <td data-end>
        {line.missing ? <StateBadge tone="warn">missing: {line.missing}</StateBadge> : write(line.feature, line.value)}
        <span className={classes.bin}>{writeBin(line.feature, line.bin)}</span>
      </td>
      <BarCell bar={bars[index]!} scale={scale} lines={lines} tone={line.shortfall >= FAR_SHORT ? 'far' : 'given'} />
      <td data-end>{writePoints(line.points)}</td>
      <td data-end>
        <Difference shortfall={line.shortfall} />
      </td>
    </tr>
  ))
}

function RulePointsRow({ score, scale, lines }: Drawn) {
  const points = score.rule_points ?? 0
  if (points === 0) return null
  const bar = { from: score.total - points, to: score.total, missed: 0 }
  return (
    <tr>
      <th scope="row">Points of rules</th>
      <td />
      <BarCell bar={bar} scale={scale} lines={lines} tone={points < 0 ? 'far' : 'given'} />
      <td data-end>{writePoints(points)}</td>
      <td />
    </tr>
  )
}

function TotalRow({ view, score, scale, lines }: Drawn) {
  return (
    <tfoot>
      <tr>
        <th scope="row">Score</th>
        <td data-end>{view.tier && <StateBadge tone="info">Tier {view.tier}</StateBadge>}</td>
        <BarCell bar={{ from: scale.from, to: score.total, missed: 0 }} scale={scale} lines={lines} tone="total" />
        <td data-end className={classes.total}>
          {writeDecimal(score.total)}
        </td>
        <td data-end className={classes.total}>
          <span title="Against the cutoff">{writePoints(score.total - score.cutoff)}</span>
        </td>
      </tr>
    </tfoot>
  )
}

/** A shortfall from which a bar is drawn as a warning. */
const FAR_SHORT = 15

interface Scale {
  from: number
  to: number
}

interface Line {
  at: number
  name: string
  kind: string
}

function place(points: number, { from, to }: Scale): number {
  return ((points - from) / (to - from)) * 100
}

function scaleOf(view: ViewData, score: Score): Scale {
  const bars = runningBars(view, score)
  const all = bars.flatMap(({ from, to, missed }) => [from, to, to + missed])
  const [low, high] = [Math.min(score.base, score.cutoff, ...all), Math.max(score.total, score.cutoff, ...all)]
  const room = Math.max(10, (high - low) * 0.06)
  return { from: Math.floor((low - room) / 10) * 10, to: Math.ceil((high + room) / 10) * 10 }
}

function referenceScale({ evidence: { scorecard } }: ViewData): Scale {
  const most = Math.max(10, ...scorecard.map(({ shortfall }) => Math.abs(shortfall)))
  return { from: -most * 1.1, to: most * 1.1 }
}

function runningBars({ evidence: { scorecard } }: ViewData, { base }: Score): Bar[] {
  let total = base
  return scorecard.map(({ points, shortfall }) => {
    const from = total
    total += points
    return { from, to: total, missed: Math.max(0, shortfall) }
  })
}

function referenceBars({ evidence: { scorecard } }: ViewData): Bar[] {
  return scorecard.map(({ shortfall }) => ({ from: 0, to: -shortfall, missed: 0 }))
}

/** The cutoff, which crosses every row, and round scores that only the head names. */
function linesOf({ cutoff }: Score, scale: Scale): Line[] {
  const step = TICK_STEPS.find((each) => (scale.to - scale.from) / each <= TICKS_MAX) ?? TICK_STEPS.at(-1)!
  const first = Math.ceil(scale.from / step)
  const ticks = Array.from({ length: Math.floor(scale.to / step) - first + 1 }, (_, index) => (first + index) * step)
  return [
    ...ticks.map((tick) => ({ at: place(tick, scale), name: String(tick), kind: 'tick' })),
    { at: place(cutoff, scale), name: `Cutoff ${cutoff}`, kind: 'cutoff' },
  ]
}

/** Distances between the scores that the axis names. */
const TICK_STEPS = [10, 20, 50, 100, 200, 500, 1_000, 5_000]
const TICKS_MAX = 6

function BarCell({ bar, scale, lines, tone }: { bar: Bar; scale: Scale; lines: readonly Line[]; tone: string }) {
  const [from, to] = [Math.min(bar.from, bar.to), Math.max(bar.from, bar.to)].map((points) => place(points, scale))
  const missed = place(Math.max(bar.from, bar.to) + bar.missed, scale)
  return (
    <td className={classes.bars} aria-hidden="true">
      {lines
        .filter(({ kind }) => kind === 'cutoff')
        .map(({ at, name }) => (
          <i key={name} className={classes.line} style={{ left: `${at}%` }} />
        ))}
      <i className={classes.bar} data-tone={tone} style={span(from!, to!)} />
      {bar.missed > 0 && <i className={classes.bar} data-tone="missed" style={span(to!, missed)} />}
    </td>
  )
}

function span(from: number, to: number): CSSProperties {
  return { left: `${from}%`, width: `max(2px, ${to - from}%)` }
}

function AxisWords({ lines }: { lines: readonly Line[] }) {
  const cutoff = lines.find(({ kind }) => kind === 'cutoff')?.at ?? 0
  return lines.map(({ at, name, kind }) => {
    // A score whose word would touch the cutoff's, or reach into the next column, is left out.
    if (kind === 'tick' && (Math.abs(at - cutoff) < 20 || at < 4 || at > 96)) return null
    return (
      <span key={name} className={classes.axisWord} data-kind={kind} style={{ left: `${at}%` }} aria-hidden="true">
        {name}
      </span>
    )
  })
}

function Difference({ shortfall }: { shortfall: number }) {
  if (shortfall === 0) return <span className="dim">–</span>
  return shortfall > 0 ? (
    <span className="text-decline">▼ {writeDecimal(shortfall)}</span>
  ) : (
    <span className="text-ok">▲ {writeDecimal(-shortfall)}</span>
  )
}

/** The tier that would be next, and how far it is. */
function nextTier({ tiers }: ViewData, { total }: Score): string | undefined {
  const next = tiers.filter(({ from }) => from > total).sort((a, b) => a.from - b.from)[0]
  return next && `Tier ${next.tier} begins at ${next.from}, ${writeDecimal(next.from - total)} more`
}

function Legend({ mode, view, score }: { mode: 'running' | 'reference'; view: ViewData; score: Score }) {
  if (mode === 'reference')
    return <span>Right of the line: more points than applicants just above the cutoff have. Left: fewer.</span>
  return (
    <>
      <span className={classes.key} data-tone="given">
        Points given
      </span>
      <span className={classes.key} data-tone="far">
        Far short of the reference
      </span>
      <span className={classes.key} data-tone="missed">
        Points missed
      </span>
      <span className={classes.axisStart}>
        {[nextTier(view, score), `The axis starts at ${scaleOf(view, score).from}`].filter(Boolean).join('. ')}
      </span>
    </>
  )
}
