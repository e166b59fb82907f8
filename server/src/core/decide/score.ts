import type { FactValue } from '../facts/facts.ts'
import type {
  CompiledBin,
  CompiledCharacteristic,
  CompiledPolicy,
  TableRow,
} from '../policy/compile/compiled-policy.ts'
import type { ScorecardLine } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'

/** The bin of a feature that is missing. */
const MISSING_BIN = 'missing'
/** The bin of a characteristic that does not apply, such as the instalment of a request without an amount. */
const NOT_APPLICABLE_BIN = 'not applicable'

/** The lines of a scorecard and their total, without the points of rules. */
export interface ScoredCard {
  lines: ScorecardLine[]
  cardTotal: number
}

/** Adds up the scorecard: `cardTotal = base + Σ points = base + Σ reference − Σ shortfall`. */
export function score({ characteristics, document }: CompiledPolicy, reading: SlotReading): ScoredCard {
  const lines: ScorecardLine[] = []
  let cardTotal = document.scorecard.base
  for (const characteristic of characteristics) {
    const line = scoreLine(characteristic, reading)
    lines.push(line)
    cardTotal += line.points
  }
  return { lines, cardTotal }
}

/** Scores another amount: only the characteristics that are measured from it differ. */
export function scoreAgain(policy: CompiledPolicy, scored: ScoredCard, reading: SlotReading): ScoredCard {
  const { lines, cardTotal } = scored
  const again = { lines: lines.slice(), cardTotal }
  for (const [index, characteristic] of policy.characteristics.entries()) {
    if (!characteristic.dependsOnAmount) continue
    const line = scoreLine(characteristic, reading)
    again.cardTotal += line.points - lines[index]!.points
    again.lines[index] = line
  }
  return again
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
    if (isIn(bin, value)) return bin
  }
  return bins.at(-1)!
}

function isIn({ equals, below, in: set }: CompiledBin, value: FactValue): boolean {
  if (below !== undefined) return (value as number) < below
  if (equals !== undefined) return value === equals
  return set === undefined || set.has(value)
}

/** Interpolates linearly between the rows of a table and rounds down; beyond either end the last row there counts. A table has at least two rows. */
export function readTable(rows: readonly TableRow[], at: number): number {
  let next = 0
  while (next < rows.length && rows[next]!.at <= at) next += 1
  const upper = rows[next]
  const lower = rows[next - 1]
  if (lower === undefined) return rows[0]!.value
  if (upper === undefined) return lower.value
  return Math.floor(lower.value + ((upper.value - lower.value) * (at - lower.at)) / (upper.at - lower.at))
}
