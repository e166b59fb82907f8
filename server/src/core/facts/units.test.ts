import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUnits, compareUnits, ratioOf, sixDecimals, sumUnits, type Units, unitsOf } from './units.ts'

const BEYOND_DOUBLES = 9_007_199_254_740_993n

test('amounts beyond what a double holds exactly are kept as text, and added exactly', () => {
  assert.equal(unitsOf(9_007_199_254_740_991n), 9_007_199_254_740_991)
  assert.equal(unitsOf(BEYOND_DOUBLES), '9007199254740993')
  assert.equal(addUnits(undefined, 5n), 5)
  assert.equal(addUnits('9007199254740993', -3n), 9_007_199_254_740_990)
  assert.equal(sumUnits([]), 0)
  assert.equal(sumUnits([1, '9007199254740993']), '9007199254740994')
})

test('amounts sort in ascending order, whichever way they are kept', () => {
  const descending: Units[] = [
    '9007199254740994',
    '9007199254740993',
    7,
    5,
    5,
    '-9007199254740993',
    '-9007199254740994',
  ]
  assert.deepEqual(descending.toReversed().toSorted(compareUnits), descending.toReversed())
  assert.deepEqual(descending.toSorted(compareUnits), descending.toReversed())
  assert.equal(compareUnits('9007199254740993', '9007199254740993'), 0)
  assert.ok(compareUnits('9007199254740994', '9007199254740993') > 0)
})

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
