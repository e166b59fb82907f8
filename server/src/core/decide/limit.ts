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
  const rounded = Math.floor(Math.min(lowest.amount, AMOUNT_MAX) / money.step) * money.step
  terms.push({ term: 'requested', amount: requested })
  // The request itself is not rounded: who asks for 1,234 may get 1,234.
  const binding = requested <= rounded ? 'requested' : lowest.term
  return { currency, terms, missing: [], step: money.step, binding, amount: Math.min(requested, rounded) }
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
    terms.push({ term: 'capacity', amount: inCents(capacity.instalment * termsOf(policy, features).annuityFactor) })
  } else missing.push(...capacity.missing)
  const balance = numberOf(features, 'cashflow.average_balance')
  if (balance === undefined) missing.push('cashflow.average_balance')
  else terms.push({ term: 'balance', amount: inCents(Math.max(0, balance) * tier.balance_multiple) })
  if (perReference !== undefined) {
    const budget = (limit.expected_loss_max * 1_000_000) / (badPpm * limit.loss_given_default)
    terms.push({ term: 'expected_loss', amount: inCents(budget * perReference) })
    terms.push({ term: 'tier', amount: inCents(tier.cap * perReference) })
  }
  return { terms, missing }
}

function inCents(amount: number): number {
  return Math.floor(amount * 100) / 100
}
