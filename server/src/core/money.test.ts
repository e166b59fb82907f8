import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { AMOUNT_MAX, formatMoney, moneyNumber, moneyOf, moneyOfText, parseMoney } from './money.ts'

/** Every amount with at most 15 significant digits and four decimals, in units. */
const exactUnits = fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n })
const anyUnits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })

describe('an amount', () => {
  it('is parsed exactly as it was written', () => {
    const written: [number, bigint][] = [
      [0, 0n],
      [-0, 0n],
      [1, 10_000n],
      [-1, -10_000n],
      [0.1, 1_000n],
      [0.0001, 1n],
      [-0.0001, -1n],
      [1.005, 10_050n],
      [1234567.89, 12_345_678_900n],
      [99_999_999_999.9999, 999_999_999_999_999n],
      [AMOUNT_MAX, 10_000_000_000_000_000n],
      [100_000_000_000_000, 1_000_000_000_000_000_000n],
    ]
    for (const [amount, units] of written) assert.equal(parseMoney(amount), units, `${amount}`)
  })

  it('is the same after conversion to units and back, for every valid amount', () => {
    fc.assert(
      fc.property(exactUnits, (units) => {
        const amount = moneyNumber(units)
        assert.equal(parseMoney(amount), units)
        assert.equal(moneyNumber(moneyOf(amount)), amount)
      }),
      { numRuns: 2000 },
    )
  })

  it('is parsed from its shortest decimal, or refused if that has too many digits', () => {
    const nearly = fc
      .tuple(exactUnits, fc.integer({ min: 0, max: 7 }))
      .map(([units, decimals]) => Number(units) / 10 ** decimals)
    fc.assert(
      fc.property(fc.oneof(fc.double({ noNaN: true }), nearly), (amount) => {
        const decimal = String(amount)
        const digits = decimal.replace(/[-.]/g, '').replace(/^0+/, '')
        const isExact = /^-?\d+(\.\d{1,4})?$/.test(decimal) && digits.length <= 15
        assert.equal(typeof parseMoney(amount), isExact ? 'bigint' : 'string', decimal)
        if (isExact) assert.equal(parseMoney(amount), moneyOfText(decimal))
      }),
      { numRuns: 5000 },
    )
  })

  it('converts to the nearest number, however large a sum is', () => {
    fc.assert(fc.property(anyUnits, (units) => assert.equal(moneyNumber(units), Number(formatMoney(units)))))
  })

  it('adds up exactly, in any order', () => {
    assert.equal(moneyOf(0.1) + moneyOf(0.2), moneyOf(0.3))
    const cents = fc.array(fc.integer({ min: -1_000_000, max: 1_000_000 }), { maxLength: 50 })
    fc.assert(
      fc.property(cents, (all) => {
        const sum = all.reduce((total, cent) => total + moneyOf(cent / 100), 0n)
        assert.equal(sum, BigInt(all.reduce((total, cent) => total + cent, 0)) * 100n)
      }),
    )
  })

  it('is refused with more than four decimals, however small it is', () => {
    for (const amount of [0.00001, 1.23456, 0.1 + 0.2, 1e-7, -1e-7, 1.5e-10, 1e-30, Number.MIN_VALUE]) {
      assert.equal(parseMoney(amount), 'too_many_decimals', `${amount}`)
    }
  })

  it('is refused with more digits than a number represents uniquely, however large it is', () => {
    const amounts = [123_456_789_012.3456, 1e15, 2 ** 53, 1e21, -1e21, 1e30, Number.MAX_VALUE]
    for (const amount of amounts) assert.equal(parseMoney(amount), 'too_many_digits', `${amount}`)
  })

  it('is refused if it is not finite', () => {
    for (const amount of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      assert.equal(parseMoney(amount), 'too_many_digits')
      assert.throws(() => moneyOf(amount), RangeError)
    }
  })

  it('is parsed exactly or refused for every number, without throwing', () => {
    fc.assert(
      fc.property(fc.double(), (amount) => {
        const money = parseMoney(amount)
        if (typeof money === 'bigint') assert.ok(moneyNumber(money) === amount, `${amount}`)
        else assert.throws(() => moneyOf(amount), RangeError)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('the text of an amount', () => {
  it('has no trailing zeros, and no sign on zero', () => {
    const texts: [bigint, string][] = [
      [0n, '0'],
      [10_000n, '1'],
      [-10_000n, '-1'],
      [12_500n, '1.25'],
      [-1n, '-0.0001'],
      [1_000_000n, '100'],
      [10_010n, '1.001'],
    ]
    for (const [units, text] of texts) assert.equal(formatMoney(units), text)
  })

  it('is exact, also beyond the precision of a number', () => {
    fc.assert(
      fc.property(anyUnits, (units) => {
        const [whole, fraction = ''] = formatMoney(units).replace('-', '').split('.')
        const size = BigInt(whole!) * 10_000n + BigInt(fraction.padEnd(4, '0'))
        assert.equal(formatMoney(units).startsWith('-') ? -size : size, units)
      }),
    )
  })
})
