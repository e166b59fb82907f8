import { SegmentedControl } from '@mantine/core'
import { type CSSProperties, useState } from 'react'
import { StateBadge } from '../components/state-badge.tsx'
import { FoldSection } from './fold-section.tsx'
import type { ViewData } from './view-data.ts'
import classes from './waterfall.module.css'
import {
  type AxisLine,
  type Bar,
  layOutWaterfall,
  type Score,
  type Span,
  type WaterfallLayout,
  type WaterfallMode,
} from './waterfall-layout.ts'
import { binWriter, featureWriter, writeDecimal, writePoints } from './write-feature.ts'

/**
 * The points of the scorecard from base to score, as a table with bars and the cutoffs. Of access without credit the score
 * settles only the tier, so there is no cutoff.
 */
export function Waterfall({ view }: { view: ViewData }) {
  const [mode, setMode] = useState<WaterfallMode>('running')
  const { score, scorecard } = view.evidence
  if (!score) return null
  const layout = layOutWaterfall(view.requested ? score : { ...score, cutoff: null }, scorecard, mode)
  return (
    <FoldSection
      title="From base to score"
      sub={view.requested ? 'Every point that the scorecard gave' : 'Access: the points settle the tier alone'}
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
      footer={<Legend mode={mode} view={view} score={score} startsAt={layout.startsAt} />}
    >
      {scorecard.length === 0 ? (
        <p className={classes.none}>The policy gives no points by characteristics.</p>
      ) : (
        <Table view={view} score={score} layout={layout} isRunning={mode === 'running'} />
      )}
    </FoldSection>
  )
}

interface Drawn {
  view: ViewData
  score: Score
  layout: WaterfallLayout
}

function Table({ isRunning, ...drawn }: Drawn & { isRunning: boolean }) {
  const { score, layout } = drawn
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section className={classes.scroll} aria-label="Points by characteristic" tabIndex={0}>
      <table className={classes.table}>
        <caption className="visually-hidden">
          Points by characteristic, from base {writeDecimal(score.base)} to score {writeDecimal(score.total)}
          {drawn.view.requested && `; the cutoff is ${writeDecimal(score.cutoff)}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Characteristic</th>
            <th scope="col" data-end>
              Actual
            </th>
            <th scope="col" className={classes.axis}>
              <span className="visually-hidden">Bar</span>
              <AxisWords lines={layout.lines} />
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
          <CharacteristicRows {...drawn} />
          {isRunning && <RulePointsRow {...drawn} />}
        </tbody>
        {isRunning && <TotalRow {...drawn} />}
      </table>
    </section>
  )
}

function BaseRow({ score, layout }: Drawn) {
  return (
    <tr>
      <th scope="row">Base</th>
      <td />
      <BarCell bar={layout.base} lines={layout.lines} tone="base" />
      <td data-end>{writeDecimal(score.base)}</td>
      <td data-end className="dim">
        –
      </td>
    </tr>
  )
}

function CharacteristicRows({ view, layout }: Drawn) {
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
      <BarCell bar={layout.bars[index]!} lines={layout.lines} tone={line.shortfall >= FAR_SHORT ? 'far' : 'given'} />
      <td data-end>{writePoints(line.points)}</td>
      <td data-end>
        <Difference shortfall={line.shortfall} />
      </td>
    </tr>
  ))
}

function RulePointsRow({ score, layout }: Drawn) {
  const points = score.rule_points ?? 0
  if (points === 0) return null
  return (
    <tr>
      <th scope="row">Points of rules</th>
      <td />
      <BarCell bar={layout.rulePoints} lines={layout.lines} tone={points < 0 ? 'far' : 'given'} />
      <td data-end>{writePoints(points)}</td>
      <td />
    </tr>
  )
}

function TotalRow({ view, score, layout }: Drawn) {
  return (
    <tfoot>
      <tr>
        <th scope="row">Score</th>
        <td data-end>{view.tier && <StateBadge tone="info">Tier {view.tier}</StateBadge>}</td>
        <BarCell bar={layout.total} lines={layout.lines} tone="total" />
        <td data-end className={classes.total}>
          {writeDecimal(score.total)}
        </td>
        <td data-end className={classes.total}>
          {view.requested && <span title="Against the cutoff">{writePoints(score.total - score.cutoff)}</span>}
        </td>
      </tr>
    </tfoot>
  )
}

/** A shortfall from which a bar is drawn as a warning. */
const FAR_SHORT = 15

function BarCell({ bar, lines, tone }: { bar: Bar; lines: readonly AxisLine[]; tone: string }) {
  return (
    <td className={classes.bars} aria-hidden="true">
      {lines
        .filter(({ kind }) => kind === 'cutoff')
        .map(({ at, name }) => (
          <i key={name} className={classes.line} style={{ left: `${at}%` }} />
        ))}
      <i className={classes.bar} data-tone={tone} style={place(bar)} />
      {bar.missed && <i className={classes.bar} data-tone="missed" style={place(bar.missed)} />}
    </td>
  )
}

function place({ from, to }: Span): CSSProperties {
  return { left: `${from}%`, width: `max(2px, ${to - from}%)` }
}

function AxisWords({ lines }: { lines: readonly AxisLine[] }) {
  const cutoff = lines.find(({ kind }) => kind === 'cutoff')?.at ?? Number.NEGATIVE_INFINITY
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
  return next && `Tier ${next.tier} begins at ${writeDecimal(next.from)}, ${writeDecimal(next.from - total)} more`
}

function Legend({
  mode,
  view,
  score,
  startsAt,
}: {
  mode: WaterfallMode
  view: ViewData
  score: Score
  startsAt: number
}) {
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
        {[nextTier(view, score), `The axis starts at ${writeDecimal(startsAt)}`].filter(Boolean).join('. ')}
      </span>
    </>
  )
}
