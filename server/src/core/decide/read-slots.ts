import type { Fact, FactSet, FactValue, MissingBecause } from '../facts/facts.ts'
import type { CompiledInput, CompiledPolicy } from '../policy/compiled-policy.ts'
import { isStale } from './is-stale.ts'

/** The policy's inputs as this decision sees them, by slot: a value, perhaps with an age, or why it is missing. */
export interface SlotReading {
  values: readonly (FactValue | undefined)[]
  ages: readonly (number | undefined)[]
  missing: readonly (MissingBecause | undefined)[]
  /** The slots without a value. */
  gaps: readonly number[]
}

/** Reads every input of the policy once: from the facts, or from what was measured for this request. */
export function readSlots({ inputs }: CompiledPolicy, features: FactSet, measured: FactSet): SlotReading {
  const values: (FactValue | undefined)[] = new Array(inputs.length)
  const ages: (number | undefined)[] = new Array(inputs.length)
  const missing: (MissingBecause | undefined)[] = new Array(inputs.length)
  const gaps: number[] = []
  for (let slot = 0; slot < inputs.length; slot++) {
    const input = inputs[slot]!
    const fact = input.read(input.isMeasured ? measured : features)
    if (isAccepted(fact, input)) {
      values[slot] = fact.value
      ages[slot] = fact.age_days
    } else {
      missing[slot] = whyMissing(fact, input)
      gaps.push(slot)
    }
  }
  return { values, ages, missing, gaps }
}

type KnownFact = Extract<Fact, { value: FactValue }>

/** Accepts a value of the type that the policy declares, unless it is too old. */
function isAccepted(fact: Fact | undefined, { type, maxAgeDays }: CompiledInput): fact is KnownFact {
  return fact !== undefined && 'value' in fact && !isStale(fact.age_days, maxAgeDays) && typeof fact.value === type
}

function whyMissing(fact: Fact | undefined, { maxAgeDays }: CompiledInput): MissingBecause {
  if (fact === undefined) return 'no_data'
  if (!('value' in fact)) return fact.missing
  return isStale(fact.age_days, maxAgeDays) ? 'stale' : 'no_data'
}
