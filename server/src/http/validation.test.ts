import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failValidation } from '../api/api-error.ts'
import { RecordConsentRequest } from '../api/schemas/consent.ts'
import { CreateEntityRequest } from '../api/schemas/entity.ts'
import { SubmitFeatureSnapshotRequest } from '../api/schemas/feature-snapshot.ts'
import { IngestTransactionsRequest, Transaction } from '../api/schemas/transaction.ts'
import { compileValidation } from './validation.ts'

const validateEntity = compileValidation(CreateEntityRequest, { pointers: 'body' })
const validateSnapshot = compileValidation(SubmitFeatureSnapshotRequest, { pointers: 'body' })

const entity = (fields: object) => validateEntity({ external_id: 'x', ...fields })
const snapshot = (features: object) =>
  validateSnapshot({ source: 's', as_of: '2026-01-01T00:00:00Z', features }).map(({ message }) => message)

test('a name that is too long is told its length and the longest that is allowed', () => {
  const key = 'k'.repeat(41)
  assert.deepEqual(entity({ metadata: { [key]: 'v' } }), [
    { param: `/metadata/${key}`, message: `The name "${key}" has 41 characters. Use at most 40.` },
  ])
})

test('the value of a feature is told what is wrong with it', () => {
  assert.deepEqual(snapshot({ note: 'x'.repeat(501) }), ['note must have at most 500 characters.'])
  assert.deepEqual(snapshot({ list: [1] }), ['list must be a number, a string, a boolean or null.'])
})

test('a field of an item is named with the index of the item', () => {
  const validate = compileValidation(IngestTransactionsRequest, { pointers: 'body' })
  const good = { occurred_at: '2026-01-01T00:00:00Z', currency: 'EUR', direction: 'debit' }
  const violations = validate({
    transactions: [
      { ...good, external_id: 'a', amount: 1 },
      { ...good, external_id: 'b', amount: 0, surprise: 1, counterparty: { name: '' } },
    ],
  })
  assert.deepEqual(violations.map(({ message }) => message).sort(), [
    'transactions[1].amount must be more than 0.',
    'transactions[1].counterparty.name must have at least 1 character.',
    'transactions[1].surprise is not a field of this request.',
  ])
  const [category] = compileValidation(RecordConsentRequest, { pointers: 'body' })({
    purpose: 'marketing',
    data_categories: ['identity', 'blood_type'],
  })
  assert.equal(category?.param, '/data_categories/1')
  assert.match(category?.message ?? '', /^data_categories\[1\] must be one of identity, transactions, /)
})

test('countries and currencies that no longer exist are refused, and so are codes that name none', () => {
  for (const country of ['YU', 'DD', 'SU', 'AN', 'UK', 'EU', 'XK', 'ZZ', 'de'])
    assert.deepEqual(
      entity({ country }).map(({ param }) => param),
      ['/country'],
      country,
    )
  for (const country of ['DE', 'GB', 'SS', 'CW']) assert.deepEqual(entity({ country }), [], country)

  const validate = compileValidation(Transaction, { pointers: 'body' })
  const inCurrency = (currency: string) =>
    validate({
      external_id: 'a',
      occurred_at: '2026-01-01T00:00:00Z',
      amount: 1,
      direction: 'debit',
      currency,
    })
  for (const currency of ['DEM', 'FRF', 'HRK', 'ZWL', 'SLL', 'ANG', 'XTS', 'XAU', 'eur'])
    assert.match(inCurrency(currency)[0]?.message ?? '', /such as EUR/, currency)
  for (const currency of ['EUR', 'USD', 'XOF', 'SLE', 'ZWG', 'XCG'])
    assert.deepEqual(inCurrency(currency), [], currency)
})

test('a refusal lists 100 violations and counts all of them', () => {
  const violations = Array.from({ length: 250 }, (_, n) => ({ param: `/${n}`, message: `${n} is wrong.` }))
  const { details } = failValidation(violations)
  assert.equal(details.details?.length, 100)
  assert.equal(details.message, '0 is wrong. (and 249 more)')
})
