import type { Fact, FactSet, FactValue, MissingBecause } from '../facts/facts.ts'
import type { CompiledInput, CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { computeSlots, isOutOfRange } from './compute-slots.ts'
import { isStale } from './read-figures.ts'

/**
 * The policy's inputs, and what it computes from them, as this decision sees them, by slot: a value, perhaps with an age, or
 * why it is missing.
 */
export interface SlotReading {
  values: readonly (FactValue | undefined)[]
  ages: readonly (number | undefined)[]
  missing: readonly (MissingBecause | undefined)[]
  /** The slots of inputs without a value. */
  gaps: readonly number[]
}

/** Reads every input of the policy once: from the facts, or from what was measured for this request. */
export function readSlots({ inputs, computed }: CompiledPolicy, features: FactSet, measured: FactSet): SlotReading {
  const values: (FactValue | undefined)[] = new Array(inputs.length)
  const ages: (number | undefined)[] = new Array(inputs.length)
  const missing: (MissingBecause | undefined)[] = new Array(inputs.length)
  const gaps: number[] = []
  for (let slot = 0; slot < inputs.length; slot++) {
    const input = inputs[slot]!
    const fact = (input.isMeasured ? measured : features)[input.feature]
    if (isAccepted(fact, input)) {
      values[slot] = fact.value
      ages[slot] = fact.age_days
    } else {
      missing[slot] = whyMissing(fact, input)
      gaps.push(slot)
    }
  }
  computeSlots(computed, { values, ages, missing })
  return { values, ages, missing, gaps }
}

/** Reads the inputs for another amount: only what depends on it differs, and inputs are missing for the same reasons. */
export function readAgain(
  policy: CompiledPolicy,
  reading: SlotReading,
  { measured, amount }: { measured: FactSet; amount: number },
): SlotReading {
  const values = reading.values.slice()
  for (const slot of policy.measuredSlots) {
    const fact = measured[policy.inputs[slot]!.feature]
    if (values[slot] !== undefined && fact !== undefined && 'value' in fact) values[slot] = fact.value
  }
  if (policy.amountSlot !== undefined && values[policy.amountSlot] !== undefined) values[policy.amountSlot] = amount
  if (policy.computedFromAmount.length === 0) return { ...reading, values }
  const again = { values, ages: reading.ages.slice(), missing: reading.missing.slice(), gaps: reading.gaps }
  computeSlots(policy.computedFromAmount, again)
  return again
}

type KnownFact = Extract<Fact, { value: FactValue }>

/** Accepts a value of the type that the policy declares, unless it is too old or no probability where one is expected. */
function isAccepted(fact: Fact | undefined, input: CompiledInput): fact is KnownFact {
  if (fact === undefined || !('value' in fact) || isStale(fact.age_days, input.maxAgeDays)) return false
  return typeof fact.value === input.type && !(input.isProbability && isOutOfRange(fact.value))
}

function whyMissing(fact: Fact | undefined, { type, maxAgeDays }: CompiledInput): MissingBecause {
  if (fact === undefined) return 'no_data'
  if (!('value' in fact)) return fact.missing
  if (isStale(fact.age_days, maxAgeDays)) return 'stale'
  return typeof fact.value === type ? 'out_of_range' : 'wrong_type'
}
