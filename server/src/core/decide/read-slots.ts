import type { Fact, FactSet, FactValue } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { MEASURED_FEATURES } from './measure-request.ts'

/** The policy's inputs as this decision sees them, by slot. */
export interface SlotReading {
  values: readonly (FactValue | undefined)[]
  facts: readonly Fact[]
}

const NO_DATA: Fact = { missing: 'no_data' }

/** Looks up every input of the policy once; a value of another type than the policy declares is missing. */
export function readSlots({ inputs }: CompiledPolicy, features: FactSet, measured: FactSet): SlotReading {
  const values: (FactValue | undefined)[] = []
  const facts: Fact[] = []
  for (const { definition } of inputs) {
    const source = MEASURED_FEATURES.has(definition.feature) ? measured : features
    // Every feature name has a dot in it, and nothing an object inherits does.
    const found = source[definition.feature]
    const value = found !== undefined && 'value' in found ? found.value : undefined
    const isMistyped = value !== undefined && typeof value !== definition.type
    values.push(isMistyped ? undefined : value)
    facts.push(isMistyped ? NO_DATA : (found ?? NO_DATA))
  }
  return { values, facts }
}
