import assert from 'node:assert/strict'
import { it } from 'node:test'
import { deriveFacts } from '../derive-facts.ts'
import { applyTransactions, emptyState } from '../entity-state.ts'

const NOW = '2026-07-15T12:00:00.000Z'
const DAY_MS = 86_400_000

it('the reserve is the balance that one day in ten is below, to the day', () => {
  const balances = Array.from({ length: 100 }, (_, ago) => 1000 + ((ago * 37) % 100))
  const transactions = balances.map((balanceAfter, ago) => ({
    externalId: String(ago),
    occurredAt: new Date(Date.parse(NOW) - ago * DAY_MS).toISOString(),
    amount: 20,
    currency: 'EUR',
    direction: 'debit' as const,
    balanceAfter,
  }))
  const state = applyTransactions(emptyState(), transactions)
  const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
  const { features } = deriveFacts({ state, entity: {}, request, now: NOW })
  // Ten of the hundred days are below 1,010.
  assert.deepEqual(features['cashflow.reserve'], { age_days: 0, value: 1010 })
})
