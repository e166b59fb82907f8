/** A refund that is tagged as the documentation says counts no worse than one that is not. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deriveFacts } from '../derive-facts.ts'
import { applyTransactions, emptyState, type TransactionFact } from '../entity-state.ts'
import type { FactSet } from '../facts.ts'

const NOW = '2026-07-15T12:00:00.000Z'
const DAY_MS = 86_400_000

function booked(daysAgo: number, amount: number, over: Partial<TransactionFact> = {}): TransactionFact {
  return {
    occurredAt: new Date(Date.parse(NOW) - daysAgo * DAY_MS).toISOString(),
    externalId: `${daysAgo}/${amount}/${over.counterparty}`,
    amount: Math.abs(amount),
    currency: 'EUR',
    direction: amount > 0 ? 'credit' : 'debit',
    ...over,
  }
}

/** A year of a salary and of spending. */
const LIVING = Array.from({ length: 12 }, (_, month) => [
  booked(350 - month * 30, 2000, { counterparty: 'Acme', balanceAfter: 4000 }),
  booked(345 - month * 30, -700, { balanceAfter: 3300 }),
  booked(335 - month * 30, -900, { balanceAfter: 2400 }),
]).flat()

function factsOf(transactions: readonly TransactionFact[]): FactSet {
  const state = applyTransactions(emptyState(), transactions)
  const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
  return deriveFacts({ state, entity: {}, request, now: NOW }).features
}

const purchases = fc.record({
  daysAgo: fc.integer({ min: 20, max: 300 }),
  amount: fc.integer({ min: 1, max: 3000 }),
  /** How long the money takes to come back, and how much of it does. */
  after: fc.integer({ min: 0, max: 20 }),
  parts: fc.constantFrom(1, 1, 2, 4),
})

function withRefund(
  { daysAgo, amount, after, parts }: { daysAgo: number; amount: number; after: number; parts: number },
  category?: string,
) {
  const refund = booked(daysAgo - after, amount / parts, { counterparty: 'Shop', ...(category && { category }) })
  return [...LIVING, booked(daysAgo, -amount, { counterparty: 'Shop' }), refund]
}

describe('a refund', () => {
  it('that is tagged has the facts of one that is not, but for a smaller share of circular money', () => {
    fc.assert(
      fc.property(purchases, (purchase) => {
        const [tagged, untagged] = [factsOf(withRefund(purchase, 'refund')), factsOf(withRefund(purchase))]
        const { 'cashflow.circular_share': share, ...facts } = tagged
        const { 'cashflow.circular_share': untaggedShare, ...untaggedFacts } = untagged
        assert.deepEqual(facts, untaggedFacts)
        assert.ok(valueIn(share) <= valueIn(untaggedShare))
      }),
    )
  })

  it('of a whole purchase within four days leaves neither spending nor circular money', () => {
    const facts = factsOf(withRefund({ daysAgo: 100, amount: 1500, after: 3, parts: 1 }, 'refund'))
    const without = factsOf(LIVING)
    for (const name of ['monthly_spending', 'other_income', 'monthly_income', 'circular_share'])
      assert.deepEqual(facts[`cashflow.${name}`], without[`cashflow.${name}`], name)
  })

  it('that goes out takes back the money that came in, as without the tag', () => {
    const reversed = (category?: string) =>
      factsOf([
        ...LIVING,
        booked(100, 800, { counterparty: 'Client' }),
        booked(98, -800, { counterparty: 'Client', ...(category && { category }) }),
      ])
    assert.deepEqual(reversed('refund'), reversed())
    assert.deepEqual(reversed('refund')['cashflow.other_income'], factsOf(LIVING)['cashflow.other_income'])
  })

  it('that comes every month is no income that recurs', () => {
    const monthly = (category?: string) =>
      factsOf([
        ...LIVING,
        ...Array.from({ length: 11 }, (_, month) =>
          booked(340 - month * 30, 300, { counterparty: 'Expenses', ...(category && { category }) }),
        ),
      ])
    assert.equal(
      valueIn(monthly('refund')['cashflow.recurring_income']),
      valueIn(factsOf(LIVING)['cashflow.recurring_income']),
    )
    assert.ok(valueIn(monthly()['cashflow.recurring_income']) > valueIn(monthly('refund')['cashflow.recurring_income']))
  })
})

function valueIn(fact: FactSet[string] | undefined): number {
  return fact && 'value' in fact ? Number(fact.value) : Number.NaN
}
