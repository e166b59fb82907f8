import { type Fact, type FactSet, missing } from './facts.ts'
import type { FeatureName } from './feature-catalogue.ts'

const NO_DATA: Fact = missing('no_data')

/** A number among the facts, or why there is none; anything but a finite number is as good as missing. */
export function numberFact(features: FactSet, name: FeatureName): Fact {
  const fact = features[name] ?? NO_DATA
  return 'missing' in fact || Number.isFinite(fact.value) ? fact : NO_DATA
}

/** The value of a number among the facts, if it is known. */
export function numberOf(features: FactSet, name: FeatureName): number | undefined {
  const fact = numberFact(features, name)
  return 'value' in fact && typeof fact.value === 'number' ? fact.value : undefined
}

/** The value of a text among the facts, if it is known. */
export function textOf(features: FactSet, name: FeatureName): string | undefined {
  const fact = features[name]
  return fact && 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}
