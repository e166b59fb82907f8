import { RATIO_MAX } from '../facts/exact-ratio.ts'
import { type Fact, type FactSet, known, missing } from '../facts/facts.ts'
import { numberFact, numberOf, textOf } from '../facts/read-fact.ts'
import type { CompiledPolicy, ProductTerms } from '../policy/compiled-policy.ts'

/** The features of a request that depend on the policy's terms: what it would cost a month, and against what. */
export function measureRequest(policy: CompiledPolicy, features: FactSet): FactSet {
  const amount = numberOf(features, 'request.amount')
  if (amount === undefined) return NOT_REQUESTED
  const instalment = amount / termsOf(policy, features).annuityFactor
  return {
    'request.instalment': known(Math.round(instalment * 100) / 100),
    'request.instalment_to_inflow': measured(numberFact(features, 'cashflow.median_inflow'), (inflow) =>
      ratio(instalment, inflow),
    ),
    'request.lowest_balance_to_instalment': measured(numberFact(features, 'cashflow.lowest_balance'), (balance) =>
      ratio(balance, instalment),
    ),
  }
}

/** The terms of the requested product; one the policy does not name gets the default terms. */
export function termsOf({ products, defaultProduct }: CompiledPolicy, features: FactSet): ProductTerms {
  return products.get(textOf(features, 'request.product') ?? '') ?? defaultProduct
}

const NOT_REQUESTED: FactSet = {
  'request.instalment': missing('not_requested'),
  'request.instalment_to_inflow': missing('not_requested'),
  'request.lowest_balance_to_instalment': missing('not_requested'),
}

/** A feature made from another is as old as that one, and missing for the same reason. */
function measured(fact: Fact, measure: (value: number) => number): Fact {
  return 'value' in fact ? known(measure(fact.value as number), fact.age_days) : fact
}

function ratio(over: number, under: number): number {
  if (under <= 0) return RATIO_MAX
  return Math.round(Math.max(-RATIO_MAX, Math.min(RATIO_MAX, over / under)) * 1e6) / 1e6
}
