import type { FactSet } from '../facts/facts.ts'
import { numberOf, textOf } from '../facts/read-fact.ts'
import { AMOUNT_MAX } from '../money.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import type { Capacity } from './capacity.ts'
import type { LimitTerm, LimitTrace } from './decision-outcome.ts'
import { termsOf } from './measure-request.ts'

/** What the limit depends on besides the policy. */
export interface LimitQuestion {
  features: FactSet
  capacity: Capacity
  tier: PolicyDocument['tiers'][number]
  badPpm: number
}

/** The highest amount to recommend, with every bound it was taken from; nothing when no amount was asked for. */
export function limitFor(policy: CompiledPolicy, question: LimitQuestion): LimitTrace | null {
  const requested = numberOf(question.features, 'request.amount')
  const currency = textOf(question.features, 'request.currency')
  if (requested === undefined || currency === undefined) return null
  const money = policy.currencies.get(currency)
  const { terms, missing } = bounds(policy, question, money?.perReference)
  if (money === undefined || missing.length > 0) {
    const unknown = money === undefined ? ['request.currency', ...missing] : missing
    return { currency, terms, missing: unknown, step: null, binding: null, amount: null }
  }
  const lowest = terms.reduce((a, b) => (b.amount < a.amount ? b : a))
  const highest = Math.min(lowest.amount, AMOUNT_MAX)
  terms.push({ amount: requested, term: 'requested' })
  const answer = { currency, terms, missing: [], step: money.step }
  // A request within every bound is granted as it is: rounding is for what we offer instead of it.
  if (requested <= highest) return { ...answer, binding: 'requested', amount: requested }
  return { ...answer, binding: lowest.term, amount: Math.floor(highest / money.step) * money.step }
}

/** The bounds of the limit; a bound whose facts are missing is not a bound of zero, it leaves the limit unknown. */
function bounds(
  policy: CompiledPolicy,
  { features, capacity, tier, badPpm }: LimitQuestion,
  perReference: number | undefined,
): { terms: LimitTerm[]; missing: string[] } {
  const { limit } = policy.document
  const terms: LimitTerm[] = []
  const missing: string[] = []
  if ('instalment' in capacity) {
    terms.push({ amount: inCents(capacity.instalment * termsOf(policy, features).annuityFactor), term: 'capacity' })
  } else missing.push(...capacity.missing)
  const balance = numberOf(features, 'cashflow.average_balance')
  if (balance === undefined) missing.push('cashflow.average_balance')
  else terms.push({ amount: inCents(Math.max(0, balance) * tier.balance_multiple), term: 'balance' })
  if (perReference !== undefined) {
    const budget = (limit.expected_loss_max * 1_000_000) / (badPpm * limit.loss_given_default)
    terms.push({ amount: inCents(budget * perReference), term: 'expected_loss' })
    terms.push({ amount: inCents(tier.cap * perReference), term: 'tier' })
    const outstanding = numberOf(features, 'history.outstanding')
    if (outstanding === undefined) missing.push('history.outstanding')
    // Only the applicant's own credits: what entities linked to it owe is not added up yet.
    else terms.push({ amount: inCents(Math.max(0, tier.cap * perReference - outstanding)), term: 'exposure_cap' })
  }
  return { terms, missing }
}

function inCents(amount: number): number {
  return Math.floor(amount * 100) / 100
}
