import { type Fact, type FactSet, missing } from '../facts/facts.ts'
import type { FeatureName } from '../facts/feature-catalogue.ts'
import type { CompiledPolicy, ProductTerms } from '../policy/compiled-policy.ts'
import { isStale } from './is-stale.ts'

/** The figures from which the instalment, the capacity and the limit are computed, whatever inputs a policy has. */
export interface Figures {
  /** The terms of the requested product; a product that the policy does not name gets the default terms. */
  terms: ProductTerms
  amount: number | undefined
  currency: string | undefined
  medianInflow: Fact
  inflowVariation: number | undefined
  meanSpending: number | undefined
  meanDebtService: number | undefined
  lowestBalance: Fact
  averageBalance: number | undefined
  outstanding: number | undefined
}

const STALE = missing('stale')
const NO_DATA = missing('no_data')

/** Reads the figures as this policy accepts them: a value older than its input's `max_age_days` is missing. */
export function readFigures({ maxAgeDays, products, defaultProduct }: CompiledPolicy, features: FactSet): Figures {
  const fresh = (name: FeatureName) => freshFact(features[name], maxAgeDays[name])
  const figure = (name: FeatureName) => finite(fresh(name))
  const product = textIn(fresh('request.product'))
  return {
    terms: (product === undefined ? undefined : products.get(product)) ?? defaultProduct,
    amount: numberIn(figure('request.amount')),
    currency: textIn(fresh('request.currency')),
    medianInflow: figure('cashflow.median_inflow'),
    inflowVariation: numberIn(figure('cashflow.inflow_variation')),
    meanSpending: numberIn(figure('cashflow.mean_spending')),
    meanDebtService: numberIn(figure('cashflow.mean_debt_service')),
    lowestBalance: figure('cashflow.lowest_balance'),
    averageBalance: numberIn(figure('cashflow.average_balance')),
    outstanding: numberIn(figure('history.outstanding')),
  }
}

/** The number of a figure, if it is known. */
export function numberIn(figure: Fact): number | undefined {
  return 'value' in figure ? (figure.value as number) : undefined
}

function freshFact(fact: Fact | undefined, maxAgeDays: number | undefined): Fact {
  if (fact === undefined) return NO_DATA
  return 'value' in fact && isStale(fact.age_days, maxAgeDays) ? STALE : fact
}

/** Treats a value that is not a finite number as missing. */
function finite(fact: Fact): Fact {
  return !('value' in fact) || Number.isFinite(fact.value) ? fact : NO_DATA
}

function textIn(fact: Fact): string | undefined {
  return 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}
