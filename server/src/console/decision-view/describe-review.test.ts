import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeReview } from './describe-review.ts'

const review = {
  id: 'rev_1',
  verdict: 'approve',
  reviewer: { id: 'opr_1', name: 'Maren Kluge' },
  reason: 'Known for years.',
  overrides: false,
  recommended_limit: 9_000,
  currency: 'EUR',
  created_at: '2026-11-17T12:00:00.000Z',
}

test('a review came through an API key only if the log says so', () => {
  const key = { id: 'key_1', name: 'crm' }
  assert.equal(describeReview(review, new Map()).through_key, null)
  assert.deepEqual(describeReview(review, new Map([['rev_1', key]])).through_key, key)
})

test('a review that was altered in the database is shown as far as it can be read', () => {
  const altered = { ...review, verdict: 'lend', reviewer: 7, recommended_limit: '9,000', conditions: [null, 'payslip'] }
  const { verdict, limit, conditions, reviewer } = describeReview(altered, new Map())
  assert.deepEqual(
    { verdict, limit, conditions, reviewer },
    { verdict: null, limit: null, conditions: [], reviewer: '' },
  )
})
