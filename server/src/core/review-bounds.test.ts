import assert from 'node:assert/strict'
import { test } from 'node:test'
import { couldLend, DEFAULT_REVIEW_BOUNDS, limitThresholds } from './review-bounds.ts'

const at = (couldLend: number | null, bounds = DEFAULT_REVIEW_BOUNDS) =>
  Object.values(limitThresholds({ asked: 13_500, couldLend }, bounds))

test('a limit is asked about above the lower of what was asked and what the policy could lend', () => {
  assert.deepEqual(at(null), [13_500, 135_000])
  assert.deepEqual(at(13_000), [13_000, 135_000])
  assert.deepEqual(at(15_000), [13_500, 135_000], 'the policy could lend more, but it was not asked for')
  assert.deepEqual(at(0), [0, 135_000], 'the terms leave nothing')
})

test('an organization can let limits go some way above without a question', () => {
  const bounds = { ask_above_percent: 10, refuse_above_times: 2 }
  assert.deepEqual(at(null, bounds), [14_850, 27_000])
  assert.deepEqual(at(1_000.1, bounds), [1_100.11, 27_000])
})

test('what the policy could lend is its lowest term in whole steps, whatever was asked', () => {
  const limit = {
    ...{ amount: 0, binding: 'rule', currency: 'EUR', missing: [] as string[], step: 50 },
    terms: [
      { term: 'tier', amount: 15_049.99 },
      { term: 'income', amount: 20_000 },
      { term: 'requested', amount: 300 },
    ],
  }
  assert.equal(couldLend(limit), 15_000)
  assert.equal(couldLend({ ...limit, missing: ['x.y'] }), null, 'a term is not known')
  assert.equal(couldLend(null), null)
})
