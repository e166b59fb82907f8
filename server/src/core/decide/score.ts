import type { FactValue } from '../facts/facts.ts'
import type {
  CompiledBin,
  CompiledCharacteristic,
  CompiledPolicy,
  ScoredBin,
  TableRow,
} from '../policy/compile/compiled-policy.ts'
import type { ScorecardLine } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'

/** The bin of each characteristic and their total, without the points of rules. */
export interface ScoredCard {
  bins: readonly ScoredBin[]
  cardTotal: number
}

/** Adds up the scorecard: `cardTotal = base + Σ points = base + Σ reference − Σ shortfall`. */
export function score({ characteristics, document }: CompiledPolicy, reading: SlotReading): ScoredCard {
  const bins: ScoredBin[] = []
  let cardTotal = document.scorecard.base
  for (const characteristic of characteristics) {
    const bin = scoredBin(characteristic, reading)
    bins.push(bin)
    cardTotal += bin.points
  }
  return { bins, cardTotal }
}

/** Scores another amount: only the characteristics that are measured from it differ. The same card if no bin does. */
export function scoreAgain<Card extends ScoredCard>(
  policy: CompiledPolicy,
  scored: Card,
  reading: SlotReading,
): Card | ScoredCard {
  let again: ScoredCard = scored
  for (const [index, characteristic] of policy.characteristics.entries()) {
    if (!characteristic.dependsOnAmount) continue
    const bin = scoredBin(characteristic, reading)
    const { bins, cardTotal } = again
    if (bin !== bins[index])
      again = { bins: bins.with(index, bin), cardTotal: cardTotal + (bin.points - bins[index]!.points) }
  }
  return again
}

function scoredBin(characteristic: CompiledCharacteristic, reading: SlotReading): ScoredBin {
  const value = reading.values[characteristic.slot]
  if (value !== undefined) return binOf(characteristic.bins, value)
  switch (reading.missing[characteristic.slot]) {
    case 'not_requested':
      return characteristic.notApplicableBin
    case 'consent_revoked':
    case 'consent_expired':
      return characteristic.withheldBin
    case 'other_currency':
      return characteristic.otherCurrencyBin
    default:
      return characteristic.missingBin
  }
}

/** The lines of the scorecard for the trace, from the bin of each characteristic. */
export function scorecardLines(
  { characteristics }: CompiledPolicy,
  { bins, reading }: { bins: readonly ScoredBin[]; reading: SlotReading },
): ScorecardLine[] {
  return characteristics.map((characteristic, index) => lineOf(characteristic, bins[index]!, reading))
}

/** The members of a line are in the order of their names: see `orderedJson`. */
function lineOf(
  { id: characteristic, feature, group, reference, slot, notApplicableBin }: CompiledCharacteristic,
  scored: ScoredBin,
  { values, ages, missing: causes }: SlotReading,
): ScorecardLine {
  const { label: bin, points, shortfall } = scored
  const value = values[slot] ?? null
  const age_days = ages[slot]
  if (value !== null && age_days !== undefined)
    return { age_days, bin, characteristic, feature, group, points, reference, shortfall, value }
  if (value !== null || scored === notApplicableBin)
    return { bin, characteristic, feature, group, points, reference, shortfall, value }
  const missing = causes[slot]!
  return { bin, characteristic, feature, group, missing, points, reference, shortfall, value }
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
