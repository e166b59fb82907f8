import type { FeatureName } from '../facts/feature-catalogue.ts'

const WITH_PAYMENTS: readonly string[] = [
  'graph.negative_exposure',
  'graph.evidence_count',
] satisfies readonly FeatureName[]

/**
 * Why a feature may not count towards a decline; undefined if it may. Part of these features rests on payments alone:
 * a payment between two entities may justify a review or a condition, but never a decline.
 */
export function refusedForPayments(feature: string): string | undefined {
  if (!WITH_PAYMENTS.includes(feature)) return undefined
  return `${feature} includes payments and may not count towards a decline; use graph.negative_exposure_without_payments`
}
