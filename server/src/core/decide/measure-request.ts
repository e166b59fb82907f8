import { type Fact, type FactSet, known, missing } from '../facts/facts.ts'
import { ratioOf } from '../facts/units.ts'
import type { Figures } from './read-figures.ts'

/**
 * The features of a request that depend on the policy's terms: the instalment, and its ratios to the cash flow.
 *
 * INVARIANT: the trace records them, so a policy that does not read the lowest balance gets the same trace, byte for byte, as
 * before it could.
 */
export function measureRequest({ amount, fee, terms, monthlyIncome, reserve, lowestBalance }: Figures): FactSet {
  if (amount === undefined) return lowestBalance === undefined ? NOT_REQUESTED : NOTHING_REQUESTED
  const instalment = instalmentOf(amount, { fee, terms })
  return {
    'request.instalment': known(inCents(instalment)),
    'request.instalment_to_income': measured(monthlyIncome, (income) => ratioOf(instalment, income)),
    ...(lowestBalance && {
      'request.lowest_balance_to_instalment': measured(lowestBalance, (balance) => ratioOf(balance, instalment)),
    }),
    'request.reserve_to_instalment': measured(reserve, (balance) => ratioOf(balance, instalment)),
  }
}

/** Rounds an amount to cents. */
export function inCents(amount: number): number {
  return Math.round(amount * 100) / 100
}

/** The monthly instalment of an amount and its fees. */
export function instalmentOf(amount: number, { fee, terms }: Pick<Figures, 'fee' | 'terms'>): number {
  return (amount * (1 + terms.feeRate) + fee) / terms.annuityFactor
}

const NOT_REQUESTED: FactSet = {
  'request.instalment': missing('not_requested'),
  'request.instalment_to_income': missing('not_requested'),
  'request.reserve_to_instalment': missing('not_requested'),
}

const NOTHING_REQUESTED: FactSet = {
  'request.instalment': missing('not_requested'),
  'request.instalment_to_income': missing('not_requested'),
  'request.lowest_balance_to_instalment': missing('not_requested'),
  'request.reserve_to_instalment': missing('not_requested'),
}

/** A feature computed from another has that feature's age, and is missing for the same reason. */
function measured(fact: Fact, measure: (value: number) => number): Fact {
  return 'value' in fact ? known(measure(fact.value as number), fact.age_days) : fact
}
