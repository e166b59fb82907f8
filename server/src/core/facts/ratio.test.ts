import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ratioOf, sixDecimals } from './ratio.ts'

test('a ratio is rounded down to six decimals, and stays within a thousand', () => {
  assert.deepEqual([ratioOf(2, 3), ratioOf(-2, 3)], [0.666666, -0.666667])
  assert.deepEqual([ratioOf(1001, 1), ratioOf(-1001, 1), sixDecimals(1e9)], [1000, -1000, 1000])
})

test('a ratio to nothing, or to less, is the largest', () => {
  assert.deepEqual(
    [ratioOf(0, 0), ratioOf(5, 0), ratioOf(5, -1), ratioOf(5, 1), ratioOf(5, 0.5)],
    [1000, 1000, 1000, 5, 10],
  )
})
