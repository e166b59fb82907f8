import { type Fact, type FactSet, missing } from '../facts/facts.ts'
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

/**
 * Reads the figures as this policy accepts them: a value older than its input's `max_age_days` is missing. The names are
 * literals for the reason given in `read-feature.ts`.
 */
export function readFigures(
  { maxAgeDays: oldest, products, defaultProduct }: CompiledPolicy,
  features: FactSet,
): Figures {
  const product = textIn(fresh(features['request.product'], oldest['request.product']))
  return {
    terms: (product === undefined ? undefined : products.get(product)) ?? defaultProduct,
    amount: numberIn(figure(features['request.amount'], oldest['request.amount'])),
    currency: textIn(fresh(features['request.currency'], oldest['request.currency'])),
    medianInflow: figure(features['cashflow.median_inflow'], oldest['cashflow.median_inflow']),
    inflowVariation: numberIn(figure(features['cashflow.inflow_variation'], oldest['cashflow.inflow_variation'])),
    meanSpending: numberIn(figure(features['cashflow.mean_spending'], oldest['cashflow.mean_spending'])),
    meanDebtService: numberIn(figure(features['cashflow.mean_debt_service'], oldest['cashflow.mean_debt_service'])),
    lowestBalance: figure(features['cashflow.lowest_balance'], oldest['cashflow.lowest_balance']),
    averageBalance: numberIn(figure(features['cashflow.average_balance'], oldest['cashflow.average_balance'])),
    outstanding: numberIn(figure(features['history.outstanding'], oldest['history.outstanding'])),
  }
}

/** The number of a figure, if it is known. */
export function numberIn(figure: Fact): number | undefined {
  return 'value' in figure ? (figure.value as number) : undefined
}

function fresh(fact: Fact | undefined, maxAgeDays: number | undefined): Fact {
  if (fact === undefined) return NO_DATA
  return 'value' in fact && isStale(fact.age_days, maxAgeDays) ? STALE : fact
}

/** A number, or why there is none; a value that is not a finite number is missing. */
function figure(fact: Fact | undefined, maxAgeDays: number | undefined): Fact {
  const known = fresh(fact, maxAgeDays)
  return !('value' in known) || Number.isFinite(known.value) ? known : NO_DATA
}

function textIn(fact: Fact): string | undefined {
  return 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}
