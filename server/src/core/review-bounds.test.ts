import assert from 'node:assert/strict'
import { test } from 'node:test'
import { couldLend, DEFAULT_REVIEW_BOUNDS, limitThresholds, totalOf, totalThresholds } from './review-bounds.ts'

const thresholds = (couldLend: number | null, bounds = DEFAULT_REVIEW_BOUNDS) =>
  limitThresholds({ asked: 13_500, couldLend }, bounds)
const at = (couldLend: number | null, bounds = DEFAULT_REVIEW_BOUNDS) => {
  const { ask_above, refuse_above } = thresholds(couldLend, bounds)
  return [ask_above, refuse_above]
}

test('a limit is asked about above the lower of what was asked and what the policy could lend', () => {
  assert.deepEqual(at(null), [13_500, 135_000])
  assert.deepEqual(at(13_000), [13_000, 135_000])
  assert.deepEqual(at(15_000), [13_500, 135_000], 'the policy could lend more, but it was not asked for')
  assert.deepEqual(at(0), [0, 135_000], 'the terms leave nothing')
})

test('an organization can let limits go some way above without a question', () => {
  const bounds = { ask_above_percent: 10, refuse_above_times: 2, ask_below_percent: 0 }
  assert.deepEqual(at(null, bounds), [14_850, 27_000])
  assert.deepEqual(at(1_000.1, bounds), [1_100.11, 27_000])
})

test('a limit that lost a digit is asked about, measured by the lower of what was asked and what could be lent', () => {
  assert.equal(thresholds(null).ask_below, 2_700)
  assert.equal(thresholds(1_000).ask_below, 200, 'what the policy could lend is no slip')
  assert.equal(thresholds(0).ask_below, 0)
  assert.equal(thresholds(null, { ...DEFAULT_REVIEW_BOUNDS, ask_below_percent: 0 }).ask_below, 0)
})

test('limits of one currency are asked about together above what the policy could lend once', () => {
  const of = (currency: string | null, couldLend: number | null) => ({ currency, couldLend })
  const requests = [
    of('EUR', 8_000),
    of('EUR', 9_000),
    of('EUR', null),
    of('JPY', 500),
    of('USD', null),
    of(null, null),
  ]
  const both = (eur: number, jpy: number) => [
    { currency: 'EUR', could_lend: 9_000, ask_above: eur },
    { currency: 'JPY', could_lend: 500, ask_above: jpy },
  ]
  assert.deepEqual(totalThresholds(requests, DEFAULT_REVIEW_BOUNDS), both(9_000, 500))
  assert.deepEqual(totalThresholds(requests, { ...DEFAULT_REVIEW_BOUNDS, ask_above_percent: 10 }), both(9_900, 550))
  assert.equal(totalOf([0.1, 0.2]), 0.3)
})

test('what the policy could lend is its lowest term in whole steps, less what was lent since, whatever was asked', () => {
  const limit = {
    amount: 0,
    binding: 'rule',
    currency: 'EUR',
    missing: [] as string[],
    step: 50,
    terms: [
      { term: 'tier', amount: 15_049.99 },
      { term: 'income', amount: 20_000 },
      { term: 'requested', amount: 300 },
    ],
  }
  assert.equal(couldLend(limit, 0), 15_000)
  assert.deepEqual([couldLend(limit, 5_000), couldLend(limit, 20_000)], [10_000, 0])
  assert.equal(couldLend({ ...limit, missing: ['x.y'] }, 0), null, 'a term is not known')
  assert.equal(couldLend(null, 0), null)
})
