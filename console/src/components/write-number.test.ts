import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeLatency, writeMoney, writePercentOf } from './write-number.ts'

test('a latency has a fraction only if it is not whole', () => {
  assert.deepEqual([0, 3.94, 50, 240.4, 1_230].map(writeLatency), ['0 ms', '3.9 ms', '50 ms', '240 ms', '1.2 s'])
})

test('an amount of money has cents only if there are some, in the currency of each call', () => {
  assert.deepEqual(
    [writeMoney(20_000, 'EUR'), writeMoney(20_000.5, 'EUR'), writeMoney(20_000, 'GBP'), writeMoney(20_000, 'EUR')],
    ['€20,000', '€20,000.50', '£20,000', '€20,000'],
  )
})

test('a percent sign stays on the line of its figure', () => {
  assert.equal(writePercentOf(1, 8), '12.5\u00a0%')
})
