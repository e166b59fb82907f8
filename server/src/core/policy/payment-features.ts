import type { FeatureName } from '../facts/feature-catalogue.ts'

const WITH_PAYMENTS: readonly string[] = [
  'graph.negative_exposure',
  'graph.evidence_count',
] satisfies readonly FeatureName[]

/**
 * Why a feature may not count towards a decline, if it may not: part of it rests on payments alone, and whom somebody once
 * paid may be worth a look or a condition, but never a refusal.
 */
export function refusedForPayments(feature: string): string | undefined {
  if (!WITH_PAYMENTS.includes(feature)) return undefined
  return `${feature} rests on payments too and may not count towards a decline; use graph.negative_exposure_without_payments`
}
