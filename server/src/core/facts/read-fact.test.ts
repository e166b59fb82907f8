import assert from 'node:assert/strict'
import { test } from 'node:test'
import { known, missing } from './facts.ts'
import { numberOf, requestedIn, textOf } from './read-fact.ts'

const facts = {
  'request.amount': known(500),
  'request.currency': known('EUR'),
  'request.product': missing('no_data'),
  'request.hash': known(Number.NaN),
}

test('a number is read where a finite one is known', () => {
  assert.equal(numberOf(facts, 'request.amount'), 500)
  for (const name of ['request.currency', 'request.product', 'request.hash', 'request.date'] as const)
    assert.equal(numberOf(facts, name), undefined, name)
})

test('a text is read where one is known', () => {
  assert.equal(textOf(facts, 'request.currency'), 'EUR')
  for (const name of ['request.amount', 'request.product', 'request.date'] as const)
    assert.equal(textOf(facts, name), undefined, name)
})

test('what was asked for is an amount with its currency, of stored facts that were altered too', () => {
  assert.deepEqual(requestedIn(facts), { amount: 500, currency: 'EUR' })
  const { 'request.amount': amount, 'request.currency': currency } = facts
  for (const altered of [{ 'request.amount': amount }, { 'request.currency': currency }, null, 'text', [], undefined])
    assert.equal(requestedIn(altered), null)
  assert.equal(requestedIn({ 'request.amount': { value: '500' }, 'request.currency': currency }), null)
  assert.equal(requestedIn({ 'request.amount': null, 'request.currency': currency }), null)
})
