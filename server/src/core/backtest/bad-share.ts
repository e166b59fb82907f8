import type { BadShare, Estimate } from './backtest-result.ts'

/** Counts of cases with a known outcome. */
export interface Ends {
  known: number
  bad: number
}

/** How many cases each entity has; `cases` and `squares` are the sums of these numbers and of their squares. */
export interface EntityCounts {
  byEntity: Map<string, number>
  cases: number
  squares: number
}

/** The 97.5 % quantile of the normal distribution. */
export const Z = 1.96

/**
 * The share of bad ends with its Wilson interval, which holds for few cases and for shares near 0 and 1 as well.
 * `independent` is how many of the cases count as independent of each other: see `independentCases`.
 */
export function badShare({ known, bad }: Ends, independent: number = known): BadShare {
  if (known === 0) return { known, bad, share: null, low: null, high: null }
  const share = bad / known
  const spread = 1 + (Z * Z) / independent
  const middle = (share + (Z * Z) / (2 * independent)) / spread
  const half = (Z * Math.sqrt((share * (1 - share)) / independent + (Z * Z) / (4 * independent * independent))) / spread
  // Rounding must not move the bound past the share itself.
  return {
    known,
    bad,
    share,
    low: Math.min(share, Math.max(0, middle - half)),
    high: Math.max(share, Math.min(1, middle + half)),
  }
}

/**
 * How many independent cases tell as much as these do, if all cases of one entity end alike: `(Σ n)² ÷ Σ n²` of the cases of
 * each entity. So one entity with many cases counts as little more than one. Where the cases of an entity do not end alike,
 * intervals are wider than they need to be.
 */
export function independentCases({ cases, squares }: EntityCounts): number {
  return squares === 0 ? 0 : (cases * cases) / squares
}

/** Counts of no entities. */
export function noEntities(): EntityCounts {
  return { byEntity: new Map(), cases: 0, squares: 0 }
}

/** Adds cases of an entity. The sums follow, because to add up 100,000 entities at the end would hold the event loop. */
export function addEntity(counts: EntityCounts, entity: string, cases: number): void {
  const before = counts.byEntity.get(entity) ?? 0
  counts.byEntity.set(entity, before + cases)
  counts.cases += cases
  counts.squares += (before + cases) ** 2 - before ** 2
}

/** Adds the cases of the same entities. */
export function addEntities(counts: EntityCounts, { byEntity }: EntityCounts): void {
  for (const [entity, cases] of byEntity) addEntity(counts, entity, cases)
}

/** An estimate that is part of a sum, and how much of it. */
export interface Part {
  weight: number
  estimate: { share: number; low: number; high: number }
}

/**
 * The weighted sum of estimates with its interval, by the method of variance estimates recovery (Zou and Donner 2008), which
 * keeps the intervals of the parts asymmetric. `correlation` is that of the first two parts; all others are independent.
 */
export function weightedSum(parts: readonly Part[], correlation = 0): Estimate {
  const share = parts.reduce((sum, { weight, estimate }) => sum + weight * estimate.share, 0)
  const below = parts.map(({ weight, estimate: { share: of, low, high } }) => weight * (of - (weight < 0 ? high : low)))
  const above = parts.map(({ weight, estimate: { share: of, low, high } }) => weight * ((weight < 0 ? low : high) - of))
  const [first, second] = parts
  const together = first && second ? 2 * correlation * Math.sign(first.weight * second.weight) : 0
  const distance = (sides: readonly number[]) =>
    Math.sqrt(
      Math.max(0, sides.reduce((sum, side) => sum + side * side, 0) + together * (sides[0] ?? 0) * (sides[1] ?? 0)),
    )
  return { share, low: share - distance(below), high: share + distance(above) }
}
