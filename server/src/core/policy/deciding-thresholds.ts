import { findFeature } from '../facts/feature-catalogue.ts'
import type { Comparison, Condition, Slots } from './expression/compile-expression.ts'

/** A number on which a rule turns: with the feature on the other side of the threshold, the rule would answer otherwise. */
export interface DecidingThreshold {
  feature: string
  operator: Comparison['operator']
  /** The number that the feature is compared with; computed, if the rule compares with an expression. */
  threshold: number
  value: number
  /** How far the value is from the threshold. */
  distance: number
}

/** How far beyond a threshold a value is tried, as a share of the threshold. */
const BEYOND = 1e-9

/**
 * The comparisons of a rule that decide it alone: each compares one numeric feature, which is known, with a number, and
 * the rule turns if nothing but this feature crosses that number. A rule that depends on a missing feature has none.
 */
export function decidingThresholds(
  { holds, comparisons }: { holds: Condition; comparisons: readonly Comparison[] },
  values: Slots,
): DecidingThreshold[] {
  const answer = holds(values)
  if (answer === undefined) return []
  return comparisons.flatMap(({ slot, feature, operator, other }) => {
    const [value, threshold] = [values[slot], other(values)]
    if (!Number.isFinite(value) || !Number.isFinite(threshold)) return []
    const crossed = values.slice()
    crossed[slot] = otherSide(operator, value as number, threshold as number)
    if (holds(crossed) !== !answer) return []
    return [thresholdAt({ feature, operator, value: value as number, threshold: threshold as number })]
  })
}

/** A rule that does not hold is a near miss if a value is within this share of the threshold that would turn it. */
const NEAR = 0.2

/**
 * The threshold that a rule is nearest to, if it is near. A threshold of zero has no scale to be near on, and a value that
 * could not be farther away misses nothing narrowly.
 */
export function nearestThreshold(thresholds: readonly DecidingThreshold[]): DecidingThreshold | undefined {
  return thresholds
    .filter(({ threshold, distance }) => threshold !== 0 && distance <= NEAR * Math.abs(threshold))
    .filter((threshold) => !isFarthest(threshold))
    .sort((a, b) => a.distance / Math.abs(a.threshold) - b.distance / Math.abs(b.threshold))[0]
}

/** Whether a value is at the end of its feature's range: a whole share that a rule wants to be less. */
function isFarthest({ feature, value, threshold }: DecidingThreshold): boolean {
  return findFeature(feature)?.unit === 'share' && value === 1 && threshold < value
}

function thresholdAt(comparison: Omit<DecidingThreshold, 'distance'>): DecidingThreshold {
  const { value, threshold } = comparison
  // Six decimals, so that 0.3 and 0.2 are 0.1 apart and not 0.09999999999999998.
  return { ...comparison, distance: Math.round(Math.abs(value - threshold) * 1e6) / 1e6 }
}

function otherSide(operator: Comparison['operator'], value: number, threshold: number): number {
  const beyond = Math.max(1, Math.abs(threshold)) * BEYOND
  switch (operator) {
    case '<':
      return value < threshold ? threshold : threshold - beyond
    case '<=':
      return value <= threshold ? threshold + beyond : threshold
    case '>':
      return value > threshold ? threshold : threshold + beyond
    case '>=':
      return value >= threshold ? threshold - beyond : threshold
  }
}
