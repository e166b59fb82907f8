import { RATIO_MAX } from '../facts/exact-ratio.ts'
import { type Fact, type FactSet, known, missing } from '../facts/facts.ts'
import type { Figures } from './read-figures.ts'

/** The features of a request that depend on the policy's terms: the instalment, and its ratios to the cash flow. */
export function measureRequest({ amount, terms, medianInflow, lowestBalance }: Figures): FactSet {
  if (amount === undefined) return NOT_REQUESTED
  const instalment = amount / terms.annuityFactor
  return {
    'request.instalment': known(Math.round(instalment * 100) / 100),
    'request.instalment_to_inflow': measured(medianInflow, (inflow) => ratio(instalment, inflow)),
    'request.lowest_balance_to_instalment': measured(lowestBalance, (balance) => ratio(balance, instalment)),
  }
}

const NOT_REQUESTED: FactSet = {
  'request.instalment': missing('not_requested'),
  'request.instalment_to_inflow': missing('not_requested'),
  'request.lowest_balance_to_instalment': missing('not_requested'),
}

/** A feature computed from another has that feature's age, and is missing for the same reason. */
function measured(fact: Fact, measure: (value: number) => number): Fact {
  return 'value' in fact ? known(measure(fact.value as number), fact.age_days) : fact
}

function ratio(over: number, under: number): number {
  if (under <= 0) return RATIO_MAX
  return Math.round(Math.max(-RATIO_MAX, Math.min(RATIO_MAX, over / under)) * 1e6) / 1e6
}
