import { type Fact, type FactSet, missing } from '../facts/facts.ts'
import type { CompiledPolicy, ProductTerms } from '../policy/compiled-policy.ts'

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
export function readFigures(policy: CompiledPolicy, features: FactSet): Figures {
  const { maxAgeDays, products, defaultProduct } = policy
  const number = (name: string, fact: Fact | undefined) => numberFact(fact, maxAgeDays.get(name))
  const product = textIn(features['request.product'], maxAgeDays.get('request.product'))
  return {
    terms: (product === undefined ? undefined : products.get(product)) ?? defaultProduct,
    amount: numberIn(number('request.amount', features['request.amount'])),
    currency: textIn(features['request.currency'], maxAgeDays.get('request.currency')),
    medianInflow: number('cashflow.median_inflow', features['cashflow.median_inflow']),
    inflowVariation: numberIn(number('cashflow.inflow_variation', features['cashflow.inflow_variation'])),
    meanSpending: numberIn(number('cashflow.mean_spending', features['cashflow.mean_spending'])),
    meanDebtService: numberIn(number('cashflow.mean_debt_service', features['cashflow.mean_debt_service'])),
    lowestBalance: number('cashflow.lowest_balance', features['cashflow.lowest_balance']),
    averageBalance: numberIn(number('cashflow.average_balance', features['cashflow.average_balance'])),
    outstanding: numberIn(number('history.outstanding', features['history.outstanding'])),
  }
}

/** The number a fact is known to be. */
export function numberIn(fact: Fact): number | undefined {
  return 'value' in fact ? (fact.value as number) : undefined
}

/** A fact that is not too old to be looked at. */
function freshFact(fact: Fact, maxAgeDays: number | undefined): Fact {
  const isStale =
    maxAgeDays !== undefined && 'value' in fact && fact.age_days !== undefined && fact.age_days > maxAgeDays
  return isStale ? STALE : fact
}

/** A number, or why there is none; anything but a finite number is as good as missing. */
function numberFact(fact: Fact | undefined, maxAgeDays: number | undefined): Fact {
  if (fact === undefined) return NO_DATA
  const fresh = freshFact(fact, maxAgeDays)
  return 'missing' in fresh || Number.isFinite(fresh.value) ? fresh : NO_DATA
}

function textIn(fact: Fact | undefined, maxAgeDays: number | undefined): string | undefined {
  if (fact === undefined) return undefined
  const fresh = freshFact(fact, maxAgeDays)
  return 'value' in fresh && typeof fresh.value === 'string' ? fresh.value : undefined
}
