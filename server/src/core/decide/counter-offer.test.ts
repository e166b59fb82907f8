import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsIn } from './counter-offer.ts'

test('an amount has whole steps, and never so many that a count of one more is not exact', () => {
  assert.equal(stepsIn(149.99, 50), 2)
  assert.equal(stepsIn(150, 50), 3)
  assert.equal(stepsIn(1, 1e-300), Number.MAX_SAFE_INTEGER - 1)
})
