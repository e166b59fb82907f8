import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { useOperation } from '../../api/use-operation.ts'
import { Legend, type Series } from '../../components/charts/chart-frame.tsx'
import { percentScale } from '../../components/charts/layout/percent-scale.ts'
import { LineChart } from '../../components/charts/line-chart.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { writeHour, writeUtcDay } from '../../components/utc-day.ts'
import { withPercentSign, writeCount, writeLatency, writeShare } from '../../components/write-number.ts'
import type { Overview } from './overview-figures.tsx'
import classes from './overview-page.module.css'

const RATE: readonly Series[] = [{ key: 'rate', name: 'Approved', color: 'var(--data-1)' }]
const LATENCIES: readonly Series[] = [
  { key: 'p50', name: 'p50', color: 'var(--data-1)' },
  { key: 'p95', name: 'p95', color: 'var(--cond-c)', dash: '6 4' },
  { key: 'p99', name: 'p99', color: 'var(--rev-c)', dash: '2 4' },
]

type Props = { overview: Overview | undefined }

/** The share of approvals over time, with the activations of policies. */
export function ApprovalRate({ overview }: Props) {
  const points = pointsOf(overview, ({ verdicts }) => {
    const all = verdicts.approve + verdicts.approve_with_conditions + verdicts.manual_review + verdicts.decline
    return { rate: all > 0 ? ((verdicts.approve + verdicts.approve_with_conditions) / all) * 100 : null }
  })
  const { totals, activations = [] } = overview ?? {}
  const activation = activations.at(-1)
  const all = totals ? totals.approve + totals.approve_with_conditions + totals.manual_review + totals.decline : 0
  const share = totals && writeShare(totals.approve + totals.approve_with_conditions, all)
  return (
    <Section
      title="Approval rate"
      end={
        share && (
          <span className={classes.headline}>
            {share} <small>%</small>
          </span>
        )
      }
    >
      <Loaded overview={overview}>
        <LineChart
          label="Share of decisions that approve, with or without conditions"
          series={RATE}
          points={points}
          write={(percent) => withPercentSign(Math.round(percent))}
          stepMin={1}
          hasZero={false}
          mark={
            activation && overview
              ? { at: startOf(activation.at, overview.period.unit), label: `${activation.version} active` }
              : undefined
          }
        />
        {activations.length > 1 && (
          <p className={classes.note}>{activations.length} policies were activated in this time; the last is marked.</p>
        )}
      </Loaded>
    </Section>
  )
}

/** How long decisions took over time. */
export function DecisionLatency({ overview }: Props) {
  const points = pointsOf(overview, ({ latency }) => ({
    p50: latency?.p50 ?? null,
    p95: latency?.p95 ?? null,
    p99: latency?.p99 ?? null,
  }))
  const since = overview?.latency_since
  return (
    <Section title="Latency" end={<Legend series={LATENCIES} line />}>
      <Loaded overview={overview}>
        <LineChart
          label="How long decisions took, in milliseconds"
          series={LATENCIES}
          points={points}
          write={writeLatency}
          stepMin={0.1}
        />
        {overview?.latency && since && since > overview.period.from && (
          <p className={classes.note}>Not known before {writeUtcDay(since)}.</p>
        )}
      </Loaded>
    </Section>
  )
}

/** How long decisions have waited for a person. */
export function WaitingCases({ overview }: Props) {
  const waiting = overview?.waiting
  const { data: cases } = useOperation('cases.count', {})
  const deadline = cases?.within_hours
  const placeOf = percentScale(0, Math.max(1, ...(waiting?.bands ?? []).map(({ count }) => count)))
  const shown = (waiting?.bands ?? []).filter(({ count, from_hours }) => count > 0 || from_hours < 8)
  return (
    <Section
      title="How long cases wait"
      end={
        <PageLink to="review-queue" className="small">
          Review queue
        </PageLink>
      }
      sub={deadline === undefined ? 'until the first review' : `deadline ${writeCount(deadline)} h`}
    >
      <Loaded overview={overview}>
        {waiting?.count === 0 ? (
          <p className="dim">No decision waits for a person.</p>
        ) : (
          <dl className={classes.bands}>
            {shown.map(({ from_hours, to_hours, count }) => (
              <Band
                key={from_hours}
                name={bandName(from_hours, to_hours)}
                count={count}
                width={placeOf(count)}
                isOver={deadline !== undefined && from_hours >= deadline}
              />
            ))}
          </dl>
        )}
        {waiting?.is_more && (
          <p className={classes.note}>Only the oldest {writeCount(waiting.count)} were counted; there are more.</p>
        )}
      </Loaded>
    </Section>
  )
}

/** How many have waited so long; hatched past the deadline. */
function Band({ name, count, width, isOver }: { name: string; count: number; width: number; isOver: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <span className={classes.track}>
          <span className={classes.band} data-over={isOver || undefined} style={{ width: `${width}%` }} />
        </span>
        <b className="num">{writeCount(count)}</b>
      </dd>
    </>
  )
}

function bandName(from: number, to: number | null): string {
  const write = (hours: number) => (hours >= 24 ? `${writeCount(hours / 24)} d` : `${writeCount(hours)} h`)
  if (from === 0) return `< ${write(to!)}`
  if (to === null) return `> ${write(from)}`
  return from >= 24 || to < 24
    ? `${writeCount(from >= 24 ? from / 24 : from)}–${write(to)}`
    : `${write(from)}–${write(to)}`
}

function Loaded({ overview, children }: Props & { children: ReactNode }) {
  return overview ? children : <Skeleton height={136} />
}

function pointsOf(
  overview: Overview | undefined,
  valuesOf: (point: Overview['points'][number]) => Record<string, number | null>,
) {
  const isDay = overview?.period.unit === 'day'
  return (overview?.points ?? []).map((point) => ({
    key: point.at,
    label: isDay ? writeUtcDay(point.at) : writeHour(point.at),
    title: isDay ? writeUtcDay(point.at, true) : writeHour(point.at, true),
    values: valuesOf(point),
  }))
}

function startOf(at: string, unit: 'hour' | 'day'): string {
  return unit === 'day' ? `${at.slice(0, 10)}T00:00:00.000Z` : `${at.slice(0, 13)}:00:00.000Z`
}
