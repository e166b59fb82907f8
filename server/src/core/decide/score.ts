import type { FactValue } from '../facts/facts.ts'
import type { CompiledCharacteristic, CompiledPolicy } from '../policy/compiled-policy.ts'
import type { PolicyCharacteristic } from '../policy/policy-document.ts'
import type { ScorecardLine } from './decision-outcome.ts'
import type { SlotReading } from './read-slots.ts'

/** The bin of a feature that is missing. */
export const MISSING_BIN = 'missing'
/** The bin of a question the request does not raise, such as the instalment of a request without an amount. */
const NOT_APPLICABLE_BIN = 'not applicable'

/** A scorecard added up. */
export interface ScoredCard {
  lines: ScorecardLine[]
  total: number
}

/** Adds up the scorecard: `total = base + Σ points = base + Σ reference − Σ shortfall`. */
export function score({ characteristics, document }: CompiledPolicy, reading: SlotReading): ScoredCard {
  let total = document.scorecard.base
  const lines: ScorecardLine[] = []
  for (const characteristic of characteristics) {
    const line = scoreLine(characteristic, reading)
    total += line.points
    lines.push(line)
  }
  return { lines, total }
}

function scoreLine(characteristic: CompiledCharacteristic, { facts }: SlotReading): ScorecardLine {
  const { definition, slot, bins } = characteristic
  const fact = facts[slot]!
  if (!('value' in fact)) {
    // A question that does not arise is answered as by the applicant the references describe: nothing gained or lost.
    if (fact.missing === 'not_requested') return lineOf(definition, null, NOT_APPLICABLE_BIN, definition.reference)
    return { ...lineOf(definition, null, MISSING_BIN, definition.missing), missing: fact.missing }
  }
  const { label, points } = binOf(bins, fact.value)
  const { age_days } = fact
  if (age_days === undefined) return lineOf(definition, fact.value, label, points)
  const { id, feature, group, reference } = definition
  return {
    age_days,
    bin: label,
    characteristic: id,
    feature,
    group,
    points,
    reference,
    shortfall: reference - points,
    value: fact.value,
  }
}

function binOf(bins: CompiledCharacteristic['bins'], value: FactValue) {
  for (const bin of bins) if (bin.holds(value)) return bin
  return bins[bins.length - 1]!
}

function lineOf(
  { id, feature, group, reference }: PolicyCharacteristic,
  value: FactValue | null,
  bin: string,
  points: number,
): ScorecardLine {
  return { bin, characteristic: id, feature, group, points, reference, shortfall: reference - points, value }
}
