import { type Fact, type FactSet, missing } from './facts.ts'
import type { FeatureName } from './feature-catalogue.ts'
import { ownProperty } from './own-property.ts'

/** A number among the facts, or why there is none; anything but a finite number is as good as missing. */
export function numberFact(features: FactSet, name: FeatureName): Fact {
  const fact = ownProperty(features, name) ?? missing('no_data')
  return 'missing' in fact || Number.isFinite(fact.value) ? fact : missing('no_data')
}

/** The value of a number among the facts, if it is known. */
export function numberOf(features: FactSet, name: FeatureName): number | undefined {
  const fact = numberFact(features, name)
  return 'value' in fact && typeof fact.value === 'number' ? fact.value : undefined
}

/** The value of a text among the facts, if it is known. */
export function textOf(features: FactSet, name: FeatureName): string | undefined {
  const fact = ownProperty(features, name)
  return fact && 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}
