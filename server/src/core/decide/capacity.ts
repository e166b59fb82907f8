import type { FactSet } from '../facts/facts.ts'
import type { FeatureName } from '../facts/feature-catalogue.ts'
import { numberOf } from '../facts/read-fact.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { termsOf } from './measure-request.ts'

/** The monthly instalment that income can carry, or the features that are missing to say so. */
export type Capacity = { instalment: number } | { missing: FeatureName[] }

/**
 * Works out the affordable instalment from income, how much it varies, spending and existing loans.
 *
 * What is outstanding with us costs an instalment too, whether or not the account already shows it; the larger of the two
 * counts, so that a loan whose repayments do show is not counted twice.
 */
export function capacityOf(policy: CompiledPolicy, features: FactSet): Capacity {
  const { limit } = policy.document
  const inflow = numberOf(features, 'cashflow.median_inflow')
  const variation = numberOf(features, 'cashflow.inflow_variation')
  const spending = numberOf(features, 'cashflow.mean_spending')
  const seenDebtService = numberOf(features, 'cashflow.mean_debt_service')
  if (inflow === undefined || variation === undefined || spending === undefined || seenDebtService === undefined) {
    return { missing: NEEDED.filter((name) => numberOf(features, name) === undefined) }
  }
  const outstanding = numberOf(features, 'history.outstanding') ?? 0
  const debtService = Math.max(seenDebtService, outstanding / termsOf(policy, features).annuityFactor)
  const steadyInflow = inflow * (1 - limit.income_haircut * Math.min(1, variation))
  const leftOver = (steadyInflow - limit.spending_share * spending - debtService) / limit.cushion
  const debtRoom = limit.debt_to_income_max * steadyInflow - debtService
  return { instalment: Math.max(0, Math.min(leftOver, debtRoom)) }
}

const NEEDED: readonly FeatureName[] = [
  'cashflow.median_inflow',
  'cashflow.inflow_variation',
  'cashflow.mean_spending',
  'cashflow.mean_debt_service',
]
