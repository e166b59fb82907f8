import type { Fact, FactSet, FactValue } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { freshFact } from './fresh-features.ts'

/** The policy's inputs as this decision sees them, by slot. */
export interface SlotReading {
  values: readonly (FactValue | undefined)[]
  facts: readonly Fact[]
}

const NO_DATA: Fact = { missing: 'no_data' }

/** Looks up every input of the policy once; a value that is too old, or of another type than the policy declares, is missing. */
export function readSlots({ inputs }: CompiledPolicy, features: FactSet, measured: FactSet): SlotReading {
  const values: (FactValue | undefined)[] = []
  const facts: Fact[] = []
  for (let slot = 0; slot < inputs.length; slot++) {
    const { definition, maxAgeDays, isMeasured } = inputs[slot]!
    // Every feature name has a dot in it, and nothing an object inherits does.
    const found = (isMeasured ? measured : features)[definition.feature] ?? NO_DATA
    const fact = isMeasured ? found : freshFact(found, maxAgeDays)
    const value = 'value' in fact ? fact.value : undefined
    const isMistyped = value !== undefined && typeof value !== definition.type
    values.push(isMistyped ? undefined : value)
    facts.push(isMistyped ? NO_DATA : fact)
  }
  return { values, facts }
}
