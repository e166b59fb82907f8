import type { FactSet } from './facts.ts'
import type { FeatureName } from './feature-catalogue.ts'

/** The value of a numeric feature, if it is known; any value but a finite number counts as missing. */
export function numberOf(features: FactSet, name: FeatureName): number | undefined {
  const fact = features[name]
  return fact && 'value' in fact && Number.isFinite(fact.value) ? (fact.value as number) : undefined
}

/** The value of a text feature, if it is known. */
export function textOf(features: FactSet, name: FeatureName): string | undefined {
  const fact = features[name]
  return fact && 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}
