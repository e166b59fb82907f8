import { type Fact, type FactSet, missing } from '../facts/facts.ts'
import type { FeatureName } from '../facts/feature-catalogue.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'

const STALE = missing('stale')

/** The features that the request, the capacity and the limit are measured by, whatever else a policy asks about. */
const MEASURED_BY: readonly FeatureName[] = [
  'request.product',
  'request.amount',
  'request.currency',
  'cashflow.median_inflow',
  'cashflow.inflow_variation',
  'cashflow.mean_spending',
  'cashflow.mean_debt_service',
  'cashflow.lowest_balance',
  'cashflow.average_balance',
  'history.outstanding',
]

/** What amounts are measured by, as this policy accepts it: what is older than an input's `max_age_days` is missing. */
export function freshFeatures({ maxAgeDays }: CompiledPolicy, features: FactSet): FactSet {
  const fresh: FactSet = {}
  for (let index = 0; index < MEASURED_BY.length; index++) {
    const name = MEASURED_BY[index]!
    const fact = features[name]
    if (fact !== undefined) fresh[name] = freshFact(fact, maxAgeDays.get(name))
  }
  return fresh
}

/** A fact that is not too old to be looked at. */
export function freshFact(fact: Fact, maxAgeDays: number | undefined): Fact {
  const isStale =
    maxAgeDays !== undefined && 'value' in fact && fact.age_days !== undefined && fact.age_days > maxAgeDays
  return isStale ? STALE : fact
}
