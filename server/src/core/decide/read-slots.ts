import type { FactSet, FactValue, MissingBecause } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { isStale } from './is-stale.ts'

/** The policy's inputs as this decision sees them, by slot: each has a value, perhaps with an age, or a reason why not. */
export interface SlotReading {
  values: readonly (FactValue | undefined)[]
  ages: readonly (number | undefined)[]
  missing: readonly (MissingBecause | undefined)[]
}

/** Looks up every input of the policy once; a value that is too old, or of another type than the policy declares, is missing. */
export function readSlots({ inputs }: CompiledPolicy, features: FactSet, measured: FactSet): SlotReading {
  const values: (FactValue | undefined)[] = new Array(inputs.length)
  const ages: (number | undefined)[] = new Array(inputs.length)
  const missing: (MissingBecause | undefined)[] = new Array(inputs.length)
  for (let slot = 0; slot < inputs.length; slot++) {
    const { type, maxAgeDays, isMeasured, read } = inputs[slot]!
    const fact = read(isMeasured ? measured : features)
    let value: FactValue | undefined
    let age: number | undefined
    let because: MissingBecause | undefined
    if (fact === undefined) because = 'no_data'
    else if (!('value' in fact)) because = fact.missing
    else if (isStale(fact.age_days, maxAgeDays)) because = 'stale'
    else if (typeof fact.value !== type) because = 'no_data'
    else {
      value = fact.value
      age = fact.age_days
    }
    values[slot] = value
    ages[slot] = age
    missing[slot] = because
  }
  return { values, ages, missing }
}
