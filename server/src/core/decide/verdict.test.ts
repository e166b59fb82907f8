import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isReduced } from './verdict.ts'

it('a limit is reduced if something is lent, but not all that was asked for', () => {
  const limit = { currency: 'EUR', terms: [], missing: [], step: 0.01 }
  assert.equal(isReduced(null), false)
  assert.equal(isReduced({ ...limit, amount: null, binding: null }), false)
  assert.equal(isReduced({ ...limit, amount: 0, binding: 'income' }), false)
  assert.equal(isReduced({ ...limit, amount: 0.01, binding: 'income' }), true)
  assert.equal(isReduced({ ...limit, amount: 100, binding: 'rule' }), true)
  assert.equal(isReduced({ ...limit, amount: 100, binding: 'requested' }), false)
})
