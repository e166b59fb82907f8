import type { FactValue } from '../facts/facts.ts'
import type { CompiledBin, CompiledCharacteristic, CompiledPolicy } from '../policy/compiled-policy.ts'
import type { ScorecardLine } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'

/** The bin of a feature that is missing. */
const MISSING_BIN = 'missing'
/** The bin of a question the request does not raise, such as the instalment of a request without an amount. */
const NOT_APPLICABLE_BIN = 'not applicable'

/** A scorecard added up. */
export interface ScoredCard {
  lines: ScorecardLine[]
  /** What each line fell short by, once more: reasons are ranked by it. */
  shortfalls: number[]
  total: number
}

/** Adds up the scorecard: `total = base + Σ points = base + Σ reference − Σ shortfall`. */
export function score({ characteristics, document }: CompiledPolicy, reading: SlotReading): ScoredCard {
  let total = document.scorecard.base
  const lines: ScorecardLine[] = new Array(characteristics.length)
  const shortfalls: number[] = new Array(characteristics.length)
  for (let index = 0; index < characteristics.length; index++) {
    const line = scoreLine(characteristics[index]!, reading)
    total += line.points
    lines[index] = line
    shortfalls[index] = line.shortfall
  }
  return { lines, shortfalls, total }
}

/** Lines are written in the order of their members' names, which is how they are recorded. */
function scoreLine(characteristic: CompiledCharacteristic, { values, ages, missing }: SlotReading): ScorecardLine {
  const { id, feature, group, reference, slot, bins, missingPoints } = characteristic
  const value = values[slot]
  if (value === undefined) {
    const because = missing[slot]!
    // A question that does not arise is answered as by the applicant the references describe: nothing gained or lost.
    const isAsked = because !== 'not_requested'
    const bin = isAsked ? MISSING_BIN : NOT_APPLICABLE_BIN
    const points = isAsked ? missingPoints : reference
    const shortfall = reference - points
    return isAsked
      ? { bin, characteristic: id, feature, group, missing: because, points, reference, shortfall, value: null }
      : { bin, characteristic: id, feature, group, points, reference, shortfall, value: null }
  }
  const { label: bin, points } = binOf(bins, value)
  const shortfall = reference - points
  const age_days = ages[slot]
  return age_days === undefined
    ? { bin, characteristic: id, feature, group, points, reference, shortfall, value }
    : { age_days, bin, characteristic: id, feature, group, points, reference, shortfall, value }
}

function binOf(bins: readonly CompiledBin[], value: FactValue): CompiledBin {
  for (const bin of bins) {
    const { equals, below } = bin
    const isIn = equals === undefined ? below === undefined || (value as number) < below : value === equals
    if (isIn) return bin
  }
  return bins[bins.length - 1]!
}
