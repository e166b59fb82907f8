import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { currencyDecimals } from '../../../server/src/core/schema/currency-decimals.ts'
import { setNotation } from './money/number-notation.ts'
import { writeAmount, writeLatency, writeMoney, writePercent, writePercentOf, writeRate } from './write-number.ts'

after(() => setNotation('comma_point'))

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

test('a share has at most, and where it is measured exactly, so many decimals', () => {
  assert.deepEqual(
    [writePercent(0.5), writePercent(0.0825, 2), writePercent(0.125, 0), writePercentOf(1, 2), writeRate(0.5)],
    ['50\u00a0%', '8.25\u00a0%', '13\u00a0%', '50.0\u00a0%', '50.0\u00a0%'],
  )
})

test('an amount has the decimals of its currency by ISO 4217, whatever the browser knows', () => {
  assert.deepEqual(
    [writeMoney(1_234.5, 'KWD'), writeMoney(1_234.5, 'IQD'), writeMoney(1_234, 'JPY')].map((text) =>
      text.replace(/^\D+/, ''),
    ),
    ['1,234.500', '1,234.500', '1,234'],
  )
  assert.equal(writeMoney(-20, 'EUR'), '\u2212€20')
})

test('no digit of an amount is lost in writing it, in any currency', () => {
  const amounts = fc.integer({ min: 0, max: 1e11 })
  fc.assert(
    fc.property(amounts, fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF'), (minor, currency) => {
      const decimals = currencyDecimals(currency)
      const amount = Number((minor / 10 ** decimals).toFixed(decimals))
      assert.equal(Number(writeAmount(amount, decimals).replaceAll(',', '')), amount)
      assert.equal(Number(writeMoney(amount, currency).replace(/[^\d.]/g, '')), amount)
    }),
  )
})

test('signs follow the notation of the person, the currency stays', () => {
  setNotation('point_comma')
  assert.deepEqual([writeMoney(1_234.5, 'EUR'), writePercent(0.125)], ['€1.234,50', '12,5\u00a0%'])
  setNotation('indian')
  assert.equal(writeMoney(1_234_567, 'EUR'), '€12,34,567')
  setNotation('comma_point')
})
