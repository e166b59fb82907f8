import assert from 'node:assert/strict'
import { it } from 'node:test'
import { streamKey } from './stream-key.ts'
import type { TransactionFact } from './transaction-fact.ts'

const CREDIT: TransactionFact = {
  externalId: 't',
  occurredAt: '2026-11-16T09:30:00.000Z',
  amount: 1,
  currency: 'EUR',
  direction: 'credit',
}
const keyOf = (texts: Partial<TransactionFact>) => streamKey({ ...CREDIT, ...texts })

it('a stream is named by the counterparty, or else by the booking text, or else by the category', () => {
  const payer = keyOf({ counterparty: 'Acme Payroll' })
  assert.equal(keyOf({ counterparty: 'Acme Payroll', description: 'Wages', category: 'salary' }), payer)
  assert.equal(keyOf({ description: 'Acme Payroll', category: 'salary' }), payer)
  assert.equal(keyOf({ category: 'acme payroll' }), payer)
  assert.notEqual(keyOf({ counterparty: 'Other', description: 'Acme Payroll' }), payer)
  assert.notEqual(keyOf({}), payer)
})

it('case, numbers, punctuation, single letters and words after the third do not matter', () => {
  const payer = keyOf({ counterparty: 'acme payroll services' })
  for (const counterparty of [
    'ACME Payroll Services',
    'Acme 4711 Payroll/Services',
    'Acme Payroll Services GmbH 2026-11',
  ])
    assert.equal(keyOf({ counterparty }), payer, counterparty)
  assert.notEqual(keyOf({ counterparty: 'acme payroll' }), payer)
  assert.notEqual(keyOf({ counterparty: 'services payroll acme' }), payer)
})

it('the key is as it was recorded: states keep it', () => {
  assert.equal(keyOf({ counterparty: 'Acme Payroll' }), 8_210_018)
  assert.equal(keyOf({}), 0x811c9dc5 % 2 ** 24)
})
