import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moneyOf } from '../../money.ts'
import { applyTransactions, emptyState } from '../entity-state.ts'
import type { TransactionFact } from './transaction-fact.ts'
import { turnoverByMonth } from './turnover-by-month.ts'

function transaction(externalId: string, day: string, direction: 'credit' | 'debit', amount: number): TransactionFact {
  return { externalId, occurredAt: `${day}T12:00:00.000Z`, amount, currency: 'EUR', direction }
}

test('the turnover of a calendar month is the sum of both directions', () => {
  const { cashflow } = applyTransactions(emptyState(), [
    transaction('a', '2026-02-28', 'credit', 1000),
    transaction('b', '2026-03-01', 'credit', 20),
    transaction('c', '2026-03-01', 'debit', 3.5),
    transaction('d', '2026-03-31', 'debit', 0.25),
  ])
  assert.deepEqual(
    turnoverByMonth(cashflow.currencies.EUR!),
    new Map([
      ['2026-02', moneyOf(1000)],
      ['2026-03', moneyOf(23.75)],
    ]),
  )
})
