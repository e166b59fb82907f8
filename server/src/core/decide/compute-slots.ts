import type { FactValue, MissingBecause } from '../facts/facts.ts'
import type { CompiledDerived, ComputedSlot } from '../policy/compile/compiled-policy.ts'

/** A reading of slots that is being completed. */
export interface OpenReading {
  values: (FactValue | undefined)[]
  ages: (number | undefined)[]
  missing: (MissingBecause | undefined)[]
}

/** Computes derived features, and the causes and ages that expressions ask for, in the order of `computed`. */
export function computeSlots(computed: readonly ComputedSlot[], reading: OpenReading): void {
  for (const one of computed) {
    if (one.kind === 'derived') computeDerived(one, reading)
    else if (one.kind === 'age') reading.values[one.slot] = reading.ages[one.of]
    else reading.values[one.slot] = reading.missing[one.of] ?? ''
  }
}

/** The longest text of a derived feature, as of a snapshot. A stored policy may join texts, which doubles them 100 times. */
const TEXT_LENGTH_MAX = 500

function computeDerived(derived: CompiledDerived, reading: OpenReading): void {
  const { slot, type, evaluate, reads } = derived
  const { values, ages, missing } = reading
  const value = evaluate(values)
  const isOfType = type === 'number' ? Number.isFinite(value) : typeof value === type
  const refused = isOfType ? refusalOf(value, derived) : undefined
  const isKnown = isOfType && refused === undefined
  values[slot] = isKnown ? (value as FactValue) : undefined
  ages[slot] = isKnown ? oldest(reads, reading) : undefined
  missing[slot] = isKnown ? undefined : (refused ?? whyMissing(reads, reading))
}

/** Why a value of the right type does not count. */
function refusalOf(value: unknown, { isProbability }: CompiledDerived): MissingBecause | undefined {
  if (isProbability && isOutOfRange(value)) return 'out_of_range'
  return typeof value === 'string' && value.length > TEXT_LENGTH_MAX ? 'too_long' : undefined
}

/** Whether a value is no probability, such as 85 where 0.85 is meant. */
export function isOutOfRange(value: unknown): boolean {
  return typeof value === 'number' && (value < 0 || value > 1)
}

function oldest(reads: readonly number[], { ages }: OpenReading): number | undefined {
  let found: number | undefined
  for (const slot of reads) {
    const age = ages[slot]
    if (age !== undefined) found = Math.max(age, found ?? age)
  }
  return found
}

/** The cause of the first missing value. What the request does not raise comes first: the feature then does not apply. */
function whyMissing(reads: readonly number[], { missing }: OpenReading): MissingBecause {
  let found: MissingBecause | undefined
  for (const slot of reads) {
    if (missing[slot] === 'not_requested') return 'not_requested'
    found ??= missing[slot]
  }
  return found ?? 'not_a_number'
}
