import { type Fact, type FactSet, missing } from '../facts/facts.ts'
import type { FeatureName } from '../facts/feature-catalogue.ts'
import type { CompiledPolicy, ProductTerms } from '../policy/compiled-policy.ts'
import { isStale } from './is-stale.ts'

/** What the request, the capacity and the limit are measured by, whatever else a policy asks about. */
export interface Figures {
  /** The terms of the requested product; one the policy does not name gets the default terms. */
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

/**
 * Reads the figures as this policy accepts them: what is older than an input's `max_age_days` is missing.
 *
 * Each name stands where it is read, not in a list: engines remember where in an object a name was found, per place in the code.
 */
export function readFigures({ maxAgeDays, products, defaultProduct }: CompiledPolicy, features: FactSet): Figures {
  const number = (name: FeatureName, fact: Fact | undefined) => numberFact(freshFact(name, fact, maxAgeDays))
  const text = (name: FeatureName, fact: Fact | undefined) => textIn(freshFact(name, fact, maxAgeDays))
  const product = text('request.product', features['request.product'])
  return {
    terms: (product === undefined ? undefined : products.get(product)) ?? defaultProduct,
    amount: numberIn(number('request.amount', features['request.amount'])),
    currency: text('request.currency', features['request.currency']),
    medianInflow: number('cashflow.median_inflow', features['cashflow.median_inflow']),
    inflowVariation: numberIn(number('cashflow.inflow_variation', features['cashflow.inflow_variation'])),
    meanSpending: numberIn(number('cashflow.mean_spending', features['cashflow.mean_spending'])),
    meanDebtService: numberIn(number('cashflow.mean_debt_service', features['cashflow.mean_debt_service'])),
    lowestBalance: number('cashflow.lowest_balance', features['cashflow.lowest_balance']),
    averageBalance: numberIn(number('cashflow.average_balance', features['cashflow.average_balance'])),
    outstanding: numberIn(number('history.outstanding', features['history.outstanding'])),
  }
}

/** The number of a figure that is one, if it is known. */
export function numberIn(figure: Fact): number | undefined {
  return 'value' in figure ? (figure.value as number) : undefined
}

/** A fact that is there, and not too old to be looked at. */
function freshFact(name: FeatureName, fact: Fact | undefined, maxAgeDays: CompiledPolicy['maxAgeDays']): Fact {
  if (fact === undefined) return NO_DATA
  if (!('value' in fact) || fact.age_days === undefined) return fact
  return isStale(fact.age_days, maxAgeDays.get(name)) ? STALE : fact
}

/** A number, or why there is none; anything but a finite number is as good as missing. */
function numberFact(fact: Fact): Fact {
  return !('value' in fact) || Number.isFinite(fact.value) ? fact : NO_DATA
}

function textIn(fact: Fact): string | undefined {
  return 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}
