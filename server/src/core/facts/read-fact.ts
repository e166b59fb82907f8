import { isObject } from '../stored-json.ts'
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

/** The term that the applicant chose, by facts that may have been altered since they were stored; null without a choice. */
export function termIn(features: unknown): number | null {
  const fact = isObject(features) ? features['request.term_months'] : undefined
  return isObject(fact) && typeof fact.value === 'number' ? fact.value : null
}

/** An amount that was asked for. */
export interface RequestedAmount {
  amount: number
  currency: string
}

/** What was asked for, by facts that may have been altered since they were stored; null for access without an amount. */
export function requestedIn(features: unknown): RequestedAmount | null {
  const [amount, currency] = (['request.amount', 'request.currency'] as const).map((name) => {
    const fact = isObject(features) ? features[name] : undefined
    return isObject(fact) ? fact.value : undefined
  })
  return typeof amount === 'number' && typeof currency === 'string' ? { amount, currency } : null
}
