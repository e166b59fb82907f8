import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { storedOffers, storeOffers } from './stored-offers.ts'

const offer = fc.record(
  {
    decisionId: fc.uuid(),
    amount: fc.double({ min: 0, max: 1e12, noNaN: true }).map((amount) => Math.abs(amount)),
    currency: fc.constantFrom('EUR', 'JPY'),
    expiresAt: fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
      .map((date) => date.toISOString()),
    reference: fc.string({ minLength: 1 }),
  },
  { requiredKeys: ['decisionId', 'amount', 'currency', 'expiresAt'], noNullPrototype: true },
)

test('the text of a row lists exactly the offers that it was made of', () => {
  fc.assert(
    fc.property(fc.array(offer), (offers) => {
      assert.deepEqual(storedOffers(storeOffers(offers)), offers)
    }),
  )
})

test('a text that lists anything else cannot be read', () => {
  const good = ['dec_1', 1, 'EUR', 0]
  assert.equal(storedOffers(JSON.stringify([good]))?.length, 1)
  const altered = [
    good.slice(0, 3),
    [...good, 'a', 'b'],
    [...good, 1],
    [1, 1, 'EUR', 0],
    ['dec_1', '1', 'EUR', 0],
    ['dec_1', 1, 978, 0],
    ['dec_1', 1, 'EUR', 0.5],
    ['dec_1', 1, 'EUR', 9e15],
    { decisionId: 'dec_1' },
    null,
  ]
  for (const text of ['x', '{}', ...altered.map((one) => JSON.stringify([good, one]))])
    assert.equal(storedOffers(text), undefined, text)
})
