import type { FeatureName } from '../facts/feature-catalogue.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { type Figures, numberIn } from './read-figures.ts'

/** The monthly instalment that the applicant can afford, or the features that are missing to compute it. */
export type Capacity = { instalment: number } | { missing: FeatureName[] }

/**
 * Computes the affordable instalment from income, its variation, spending and existing loans.
 *
 * Own outstanding credits cost an instalment too, whether or not the account already shows its repayment. The larger of
 * the two counts, so that a loan whose repayments do show is not counted twice.
 */
export function capacityOf({ document: { limit } }: CompiledPolicy, figures: Figures): Capacity {
  const { inflowVariation: variation, meanSpending: spending, meanDebtService: seenDebtService } = figures
  const inflow = numberIn(figures.medianInflow)
  if (inflow === undefined || variation === undefined || spending === undefined || seenDebtService === undefined) {
    return { missing: missingFrom(figures) }
  }
  const debtService = Math.max(seenDebtService, (figures.outstanding ?? 0) / figures.terms.annuityFactor)
  const steadyInflow = inflow * (1 - limit.income_haircut * Math.min(1, variation))
  const leftOver = (steadyInflow - limit.spending_share * spending - debtService) / limit.cushion
  const debtRoom = limit.debt_to_income_max * steadyInflow - debtService
  return { instalment: Math.max(0, Math.min(leftOver, debtRoom)) }
}

function missingFrom({ medianInflow, inflowVariation, meanSpending, meanDebtService }: Figures): FeatureName[] {
  const names: FeatureName[] = []
  if (numberIn(medianInflow) === undefined) names.push('cashflow.median_inflow')
  if (inflowVariation === undefined) names.push('cashflow.inflow_variation')
  if (meanSpending === undefined) names.push('cashflow.mean_spending')
  if (meanDebtService === undefined) names.push('cashflow.mean_debt_service')
  return names
}
