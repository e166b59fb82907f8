import type { Aim, Bench, Measured, RatioKind, Series, Yardstick } from './bench.ts'

/** A median with the range of the middle half of the passes. */
export interface Spread {
  median: number
  low: number
  high: number
}

/** One line of the table: ours against one yardstick, or ours alone where the yardstick's peer was left out. */
export type Comparison = Compared | Uncompared

/** Our half of a line. */
interface Ours {
  bench: string
  yardstick: string
  unit: string
  ours: Spread
  aim: Aim | null
  /** The load average of the machine over the minute before the bench. */
  loadBefore?: number
}

/** Ours against one yardstick. */
export interface Compared extends Ours {
  theirs: Spread
  kind: RatioKind
  ratio: Spread
  reached: boolean | null
}

/** Ours alone, with the reason why the yardstick was left out. */
export interface Uncompared extends Ours {
  leftOut: string
}

/** Compares ours with every yardstick of a bench. */
export function compareAll({ name, yardsticks }: Pick<Bench, 'name' | 'yardsticks'>, measured: Measured): Comparison[] {
  return yardsticks.map((yardstick) => compare(name, yardstick, measured))
}

function compare(bench: string, yardstick: Yardstick, { series, leftOut }: Measured): Comparison {
  const { name, ours: oursName = 'ours', peer, aim } = yardstick
  const ours = series[oursName]
  if (ours === undefined) throw new Error(`${bench} did not measure ${oursName}`)
  const row: Ours = {
    bench: oursName === 'ours' ? bench : `${bench}: ${oursName}`,
    yardstick: name,
    unit: ours.unit,
    ours: spreadOf(ours.values),
    aim: aim ?? null,
  }
  const reason = peer && leftOut?.[peer]
  if (reason !== undefined) return { ...row, leftOut: reason }

  const theirs = series[name]
  if (theirs === undefined) throw new Error(`${bench} did not measure ${name}`)
  const kind = aim?.ratio ?? 'speed'
  const ratio = spreadOf(ratios(ours, theirs, kind))
  return {
    ...row,
    theirs: spreadOf(theirs.values),
    kind,
    ratio,
    reached: aim === undefined ? null : isReached(aim, ratio.median),
  }
}

/** One ratio per pass: a busy machine slows both sides of the same pass, so its effect cancels out. */
function ratios(ours: Series, theirs: Series, kind: RatioKind): number[] {
  return ours.values.map((value, pass) => {
    const other = theirs.values[pass]!
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
