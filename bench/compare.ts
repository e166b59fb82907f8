import type { Aim, Bench, Measured, RatioKind, Series, Yardstick } from './bench.ts'

/** A median with the range the middle half of the rounds fell into. */
export interface Spread {
  median: number
  low: number
  high: number
}

/** Ours against one yardstick. */
export interface Comparison {
  bench: string
  yardstick: string
  unit: string
  ours: Spread
  theirs: Spread
  kind: RatioKind
  ratio: Spread
  aim: Aim | null
  reached: boolean | null
}

/** Sets ours against every yardstick of a bench. */
export function compareAll(bench: Bench, { series }: Measured): Comparison[] {
  return bench.yardsticks.map((yardstick) => compare(bench.name, yardstick, series))
}

function compare(bench: string, { name, ours: oursName = 'ours', aim }: Yardstick, series: Record<string, Series>) {
  const ours = series[oursName]
  const theirs = series[name]
  if (ours === undefined || theirs === undefined) throw new Error(`${bench} did not measure ${oursName} and ${name}`)
  const kind = aim?.ratio ?? 'speed'
  const ratio = spreadOf(ratios(ours, theirs, kind))
  return {
    bench: oursName === 'ours' ? bench : `${bench}: ${oursName}`,
    yardstick: name,
    unit: ours.unit,
    ours: spreadOf(ours.rounds),
    theirs: spreadOf(theirs.rounds),
    kind,
    ratio,
    aim: aim ?? null,
    reached: aim === undefined ? null : isReached(aim, ratio.median),
  }
}

/** One ratio per round, so that a slow round, which slows both sides, leaves the ratio alone. */
function ratios(ours: Series, theirs: Series, kind: RatioKind): number[] {
  return ours.rounds.map((value, round) => {
    const other = theirs.rounds[round]!
    const isDividedByOurs = (kind === 'speed') === (ours.better === 'lower')
    return isDividedByOurs ? other / value : value / other
  })
}

function isReached({ atLeast, atMost }: Aim, ratio: number): boolean {
  return (atLeast === undefined || ratio >= atLeast) && (atMost === undefined || ratio <= atMost)
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) }
}

function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share
  const [lower, upper] = [sorted[Math.floor(position)]!, sorted[Math.ceil(position)]!]
  return lower + (upper - lower) * (position - Math.floor(position))
}
