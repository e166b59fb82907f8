import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REQUESTS_COUNTED_MAX, velocityFacts } from './velocity-facts.ts'

const AT = '2026-07-15T12:00:00.000Z'
const before = (ms: number) => new Date(Date.parse(AT) - ms).toISOString()
const DAY_MS = 86_400_000

const counts = (...earlier: string[]) => {
  const { in7Days, in30Days } = velocityFacts({ at: AT, earlier })
  return [in7Days, in30Days].map((fact) => ('value' in fact ? fact.value : fact.missing))
}

test('a request counts for less than seven and thirty days of 24 hours', () => {
  assert.deepEqual(counts(), [0, 0])
  assert.deepEqual(counts(before(7 * DAY_MS - 1)), [1, 1])
  assert.deepEqual(counts(before(7 * DAY_MS)), [0, 1])
  assert.deepEqual(counts(before(30 * DAY_MS - 1), before(30 * DAY_MS)), [0, 1])
})

test('a request that a node with a fast clock has recorded counts', () => {
  assert.deepEqual(counts(before(-900)), [1, 1])
})

test('no more requests are counted than are read, also of merged entities', () => {
  const many = Array.from({ length: REQUESTS_COUNTED_MAX + 5 }, (_, index) => before(index))
  assert.deepEqual(counts(...many), [REQUESTS_COUNTED_MAX, REQUESTS_COUNTED_MAX])
})
