import { AMOUNT_MAX } from '../money.ts'
import type { CompiledPolicy, CompiledTier } from '../policy/compiled-policy.ts'
import type { Capacity } from './capacity.ts'
import type { LimitTerm, LimitTrace } from './evaluation.ts'
import type { Figures } from './read-figures.ts'

/** What the limit depends on besides the policy. */
export interface LimitQuestion {
  figures: Figures
  capacity: Capacity
  tier: CompiledTier
  badPpm: number
}

/** The highest amount to recommend, with every bound that it was taken from; null if no amount was requested. */
export function limitFor(policy: CompiledPolicy, question: LimitQuestion): LimitTrace | null {
  const { amount: requested, currency } = question.figures
  if (requested === undefined || currency === undefined) return null
  const money = policy.currencies.get(currency)
  const { terms, missing } = bounds(policy, question, money?.perReference)
  if (money === undefined || missing.length > 0) {
    if (money === undefined) missing.unshift('request.currency')
    return { amount: null, binding: null, currency, missing, step: null, terms }
  }
  const { step } = money
  const lowest = terms.reduce((one, other) => (other.amount < one.amount ? other : one))
  const highest = Math.min(lowest.amount, AMOUNT_MAX)
  terms.push({ amount: requested, term: 'requested' })
  // A request within every bound is granted exactly; only a counter-offer is rounded down to the step.
  if (requested <= highest) return { amount: requested, binding: 'requested', currency, missing, step, terms }
  return { amount: roundedDown(highest, step), binding: lowest.term, currency, missing, step, terms }
}

/** The bounds of the limit. A bound whose facts are missing does not count as zero: it makes the limit unknown. */
function bounds(
  { document: { limit } }: CompiledPolicy,
  { figures, capacity, tier, badPpm }: LimitQuestion,
  perReference: number | undefined,
): { terms: LimitTerm[]; missing: string[] } {
  const { terms: product, averageBalance, outstanding } = figures
  const terms: LimitTerm[] = []
  const missing: string[] = []
  if ('instalment' in capacity) {
    terms.push({ amount: inCents(capacity.instalment * product.annuityFactor), term: 'capacity' })
  } else missing.push(...capacity.missing)
  if (averageBalance === undefined) missing.push('cashflow.average_balance')
  else terms.push({ amount: inCents(Math.max(0, averageBalance) * tier.balanceMultiple), term: 'balance' })
  if (perReference !== undefined) {
    const budget = (limit.expected_loss_max * 1_000_000) / (badPpm * limit.loss_given_default)
    terms.push({ amount: inCents(budget * perReference), term: 'expected_loss' })
    terms.push({ amount: inCents(tier.cap * perReference), term: 'tier' })
    if (outstanding === undefined) missing.push('history.outstanding')
    // Only the applicant's own credits; what linked entities owe is not included yet.
    else terms.push({ amount: inCents(Math.max(0, tier.cap * perReference - outstanding)), term: 'exposure_cap' })
  }
  return { terms, missing }
}

/** Rounds down to cents. A policy may write "no bound" as a number so large that it overflows here; then the largest number counts. */
function inCents(amount: number): number {
  const cents = Math.floor(amount * 100)
  return Number.isFinite(cents) ? cents / 100 : Math.min(amount, Number.MAX_VALUE)
}

function roundedDown(amount: number, step: number): number {
  const steps = Math.floor(amount / step)
  return Number.isFinite(steps) ? steps * step : amount
}
