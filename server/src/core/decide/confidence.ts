import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { remainingPpm } from './decay.ts'
import type { Completeness, Confidence } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'
import { readTable } from './score.ts'

const MILLION = 1_000_000

/**
 * The confidence that the score is on the right side of the cutoff: Φ of their distance in standard deviations. `openPoints`
 * are those that undecided rules may still add.
 */
export function confidenceIn(
  policy: CompiledPolicy,
  { values, ages, missing }: SlotReading,
  { total, openPoints }: { total: number; openPoints: number },
): Confidence {
  const { scorecard, verdicts } = policy.document
  let varianceMillionths = scorecard.spread * scorecard.spread * MILLION
  let best = total + openPoints
  for (const { slot, variance, halfLifeDays, missingBin, bestPoints } of policy.characteristics) {
    if (values[slot] !== undefined) varianceMillionths += variance * lostPpm(ages[slot], halfLifeDays)
    else if (missing[slot] !== 'not_requested') {
      varianceMillionths += variance * MILLION
      best += Math.max(0, bestPoints - missingBin.points)
    }
  }
  const distance = total - verdicts.cutoff
  const variance = Math.floor(varianceMillionths / MILLION)
  // The policy's table is compiled to z², so that no square root is needed.
  const ppm = readTable(policy.normal, (distance * distance) / variance)
  return { decline_ppm: declinePpm(policy, best), distance, ppm, variance }
}

/**
 * The confidence that the score is below the cutoff even if every missing value were its best. So neither a value that
 * turns out good nor fresher data can turn a review into a decline.
 */
function declinePpm({ document: { scorecard, verdicts }, normal }: CompiledPolicy, best: number): number {
  const short = verdicts.cutoff - best
  return short <= 0 ? 0 : readTable(normal, (short * short) / (scorecard.spread * scorecard.spread))
}

/** The share of a known value that is lost to its age. */
function lostPpm(age: number | undefined, halfLifeDays: number | null): number {
  return age === undefined || halfLifeDays === null ? 0 : MILLION - remainingPpm(age, halfLifeDays)
}

/** The weight of the known inputs as a share of all inputs that apply to the request. */
export function completenessOf({ inputs, weight }: CompiledPolicy, { gaps, missing }: SlotReading): Completeness {
  let total = weight
  let unknown = 0
  const features: string[] = []
  for (const slot of gaps) {
    const input = inputs[slot]!
    if (missing[slot] === 'not_requested') total -= input.weight
    else {
      unknown += input.weight
      features.push(input.feature)
    }
  }
  const known = total - unknown
  const ppm = total === 0 ? 0 : Math.floor((known * MILLION) / total)
  return { known_weight: known, missing: features, ppm, total_weight: total }
}
