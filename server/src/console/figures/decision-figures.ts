import { addHistograms, type Latencies, latenciesOf } from '../../core/latency-histogram.ts'
import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { LatenciesOfHour } from '../../store/environment/decision-latencies.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'

/** The periods that the overview can show. */
export const RANGES = ['24h', '7d', '30d'] as const
/** A period that the overview can show. */
export type Range = (typeof RANGES)[number]

/** How often each verdict was given. */
export type VerdictCounts = Record<Verdict, number>

/** The decisions of one hour or day. */
export interface DecisionPoint {
  /** When the hour or day begins, in UTC. */
  at: string
  verdicts: VerdictCounts
  latency: Latencies | null
}

/** The decisions of a period. */
export interface DecisionFigures {
  /** The first and the last day, in UTC. */
  period: { from: string; to: string; unit: 'hour' | 'day' }
  points: DecisionPoint[]
  totals: VerdictCounts
  /** How many decisions the same period before had; null for the last 24 hours, of which only days are known. */
  previous_decisions: number | null
  latency: Latencies | null
  /** The first day for which latencies are known; null if none is. */
  latency_since: string | null
  /** Activations of policies within the period. */
  activations: { version: string; at: string }[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DAYS = { '7d': 7, '30d': 30 } as const

/** Reads the decisions of a period from the counters of usage, so that the cost does not depend on their number. */
export async function decisionFigures(
  store: EnvironmentStore,
  { organizationId, range, now }: { organizationId: string; range: Range; now: string },
): Promise<DecisionFigures> {
  const starts = startsOf(range, now)
  const unit = range === '24h' ? 'hour' : 'day'
  const period = { from: dayOf(starts[0]!), to: dayOf(now), unit } as const
  const verdicts = await (unit === 'hour' ? countByHour : countByDay)(store, organizationId, period)
  const histograms = await store.latencies.byHour(organizationId, period.from, period.to)
  const byStart = Map.groupBy(histograms, (histogram) => startOf(histogram, unit))
  const points = starts.map((at) => ({
    at,
    verdicts: verdicts.get(at) ?? noVerdicts(),
    latency: latenciesOf(addHistograms(countsOf(byStart.get(at)))),
  }))
  return {
    period,
    points,
    totals: points.reduce((sum, point) => addVerdicts(sum, point.verdicts), noVerdicts()),
    previous_decisions:
      range === '24h' ? null : await countBefore(store, organizationId, { from: period.from, days: DAYS[range] }),
    latency: latenciesOf(addHistograms(starts.flatMap((at) => countsOf(byStart.get(at))))),
    latency_since: await store.latencies.firstDay(organizationId),
    activations: await store.overview.activationsSince(organizationId, starts[0]!),
  }
}

/** When each hour or day of a range begins, oldest first; the last is the current one. */
function startsOf(range: Range, now: string): string[] {
  const [stepMs, count] = range === '24h' ? [HOUR_MS, 24] : [DAY_MS, DAYS[range]]
  const last = Math.floor(Date.parse(now) / stepMs) * stepMs
  return Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * stepMs).toISOString())
}

function startOf({ day, hour }: { day: string; hour: number }, unit: 'hour' | 'day'): string {
  return unit === 'day' ? `${day}T00:00:00.000Z` : `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`
}

async function countByHour(
  store: EnvironmentStore,
  organizationId: string,
  { from, to }: { from: string; to: string },
): Promise<Map<string, VerdictCounts>> {
  const counts = new Map<string, VerdictCounts>()
  for (const { verdict, count, ...hour } of await store.usage.verdictsByHour(organizationId, from, to))
    addTo(counts, startOf(hour, 'hour'), { verdict, count })
  return counts
}

async function countByDay(
  store: EnvironmentStore,
  organizationId: string,
  { from, to }: { from: string; to: string },
): Promise<Map<string, VerdictCounts>> {
  const counts = new Map<string, VerdictCounts>()
  for (const { day, counter, count } of await store.usage.byDay(organizationId, from, to)) {
    const verdict = VERDICTS.find((name) => counter === `verdict.${name}`)
    if (verdict) addTo(counts, startOf({ day, hour: 0 }, 'day'), { verdict, count })
  }
  return counts
}

async function countBefore(
  store: EnvironmentStore,
  organizationId: string,
  { from, days }: { from: string; days: number },
): Promise<number> {
  const firstMs = Date.parse(from)
  const [first, last] = [
    dayOf(new Date(firstMs - days * DAY_MS).toISOString()),
    dayOf(new Date(firstMs - DAY_MS).toISOString()),
  ]
  const counts = await store.usage.byDay(organizationId, first, last)
  return counts.filter(({ counter }) => counter === 'decisions').reduce((sum, { count }) => sum + count, 0)
}

function addTo(
  counts: Map<string, VerdictCounts>,
  at: string,
  { verdict, count }: { verdict: Verdict; count: number },
): void {
  const point = counts.get(at) ?? noVerdicts()
  point[verdict] += count
  counts.set(at, point)
}

function countsOf(histograms: readonly LatenciesOfHour[] = []): number[][] {
  return histograms.map(({ counts }) => counts)
}

function noVerdicts(): VerdictCounts {
  return { approve: 0, approve_with_conditions: 0, manual_review: 0, decline: 0 }
}

function addVerdicts(one: VerdictCounts, two: VerdictCounts): VerdictCounts {
  return Object.fromEntries(VERDICTS.map((verdict) => [verdict, one[verdict] + two[verdict]])) as VerdictCounts
}

function dayOf(time: string): string {
  return time.slice(0, 10)
}
