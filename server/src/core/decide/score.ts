import type { FactValue } from '../facts/facts.ts'
import type { CompiledBin, CompiledCharacteristic, CompiledPolicy } from '../policy/compiled-policy.ts'
import type { ScorecardLine } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'

/** The bin of a feature that is missing. */
const MISSING_BIN = 'missing'
/** The bin of a characteristic that does not apply, such as the instalment of a request without an amount. */
const NOT_APPLICABLE_BIN = 'not applicable'

/** The lines of a scorecard and their total. */
export interface ScoredCard {
  lines: ScorecardLine[]
  total: number
}

/** Adds up the scorecard: `total = base + Σ points = base + Σ reference − Σ shortfall`. */
export function score({ characteristics, document }: CompiledPolicy, reading: SlotReading): ScoredCard {
  const lines: ScorecardLine[] = []
  let total = document.scorecard.base
  for (const characteristic of characteristics) {
    const line = scoreLine(characteristic, reading)
    lines.push(line)
    total += line.points
  }
  return { lines, total }
}

/** Scores one characteristic. The members of a line are in the order of their names: see `orderedJson`. */
function scoreLine(characteristic: CompiledCharacteristic, { values, ages, missing }: SlotReading): ScorecardLine {
  const { id, feature, group, reference, slot, bins, missingPoints } = characteristic
  const value = values[slot]
  if (value !== undefined) {
    const { label: bin, points } = binOf(bins, value)
    const age_days = ages[slot]
    const shortfall = reference - points
    return age_days === undefined
      ? { bin, characteristic: id, feature, group, points, reference, shortfall, value }
      : { age_days, bin, characteristic: id, feature, group, points, reference, shortfall, value }
  }
  const because = missing[slot]!
  if (because === 'not_requested') {
    // Scores as its reference does, so that nothing is gained or lost.
    const bin = NOT_APPLICABLE_BIN
    return { bin, characteristic: id, feature, group, points: reference, reference, shortfall: 0, value: null }
  }
  const points = missingPoints
  const shortfall = reference - points
  return {
    bin: MISSING_BIN,
    characteristic: id,
    feature,
    group,
    missing: because,
    points,
    reference,
    shortfall,
    value: null,
  }
}

function binOf(bins: readonly CompiledBin[], value: FactValue): CompiledBin {
  for (const bin of bins) {
    const { equals, below } = bin
    const holds = equals === undefined ? below === undefined || (value as number) < below : value === equals
    if (holds) return bin
  }
  return bins.at(-1)!
}
