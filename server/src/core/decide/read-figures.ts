import { type Fact, type FactSet, missing } from '../facts/facts.ts'
import type { CompiledPolicy, ProductTerms } from '../policy/compile/compiled-policy.ts'

/** The figures from which the request is measured, whatever inputs a policy has. */
export interface Figures {
  /**
   * The terms of the requested product over the chosen term; a product that the policy does not name gets the default terms, and
   * a term that the product does not have its own.
   */
  terms: ProductTerms
  /** The product that was requested. */
  product: string | undefined
  /** Units of the request's currency that buy one of the reference currency; 1 for a currency without a rate. */
  perReference: number
  /** The fixed fee of the product, in the currency of the request. */
  fee: number
  /** What was requested; undefined for access. */
  amount: number | undefined
  currency: string | undefined
  monthlyIncome: Fact
  reserve: Fact
  /** Undefined if the policy does not read what is measured from it. */
  lowestBalance: Fact | undefined
}

const STALE = missing('stale')
const NO_DATA = missing('no_data')

/** Reads the figures as this policy accepts them: a value older than its input's `max_age_days` is missing. */
export function readFigures(
  { maxAgeDays: oldest, products, defaultProduct, currencies, readsLowestBalance }: CompiledPolicy,
  features: FactSet,
): Figures {
  const product = textIn(fresh(features['request.product'], oldest['request.product']))
  const listed = (product === undefined ? undefined : products.get(product)) ?? defaultProduct
  const terms = listed.byTerm === undefined ? listed : termsChosen(listed, features['request.term_months'])
  const currency = textIn(fresh(features['request.currency'], oldest['request.currency']))
  const perReference = currencies.get(currency ?? '')?.perReference ?? 1
  return {
    terms,
    product,
    perReference,
    fee: terms.feeAmount * perReference,
    amount:
      terms.kind === 'access' ? undefined : numberIn(figure(features['request.amount'], oldest['request.amount'])),
    currency,
    monthlyIncome: figure(features['cashflow.monthly_income'], oldest['cashflow.monthly_income']),
    reserve: figure(features['cashflow.reserve'], oldest['cashflow.reserve']),
    lowestBalance: readsLowestBalance
      ? figure(features['cashflow.lowest_balance'], oldest['cashflow.lowest_balance'])
      : undefined,
  }
}

function termsChosen(listed: ProductTerms, chosen: Fact | undefined): ProductTerms {
  const term = chosen && numberIn(chosen)
  return (term === undefined ? undefined : listed.byTerm?.get(term)) ?? listed
}

function numberIn(figure: Fact): number | undefined {
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

/** Whether a value is older than a policy accepts; never true without an age or without a maximum. */
export function isStale(ageDays: number | undefined, maxAgeDays: number | undefined): boolean {
  return ageDays !== undefined && maxAgeDays !== undefined && ageDays > maxAgeDays
}
