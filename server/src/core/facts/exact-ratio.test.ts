import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { medianMoney, RATIO_MAX, ratioOf, variationOf } from './exact-ratio.ts'

const amounts = fc.array(fc.integer({ min: 1, max: 10_000_000 }), { minLength: 1, maxLength: 13 })

it('the variation is the standard deviation over the mean', () => {
  fc.assert(
    fc.property(amounts, (values) => {
      const sum = values.reduce((total, value) => total + BigInt(value), 0n)
      const squares = values.reduce((total, value) => total + BigInt(value) ** 2n, 0n)
      const mean = Number(sum) / values.length
      const deviation = Math.sqrt(values.reduce((total, value) => total + (value - mean) ** 2, 0) / values.length)
      const variation = variationOf({ count: values.length, sum, squares })
      assert.ok(Math.abs(variation - deviation / mean) < 2e-6, `${variation} ${deviation / mean}`)
    }),
  )
})

it('the variation is exact beyond the precision and the range of a double', () => {
  for (const zeros of [0n, 10n, 20n, 100n, 300n]) {
    const sum = 10n ** zeros * 1_000_000n
    // With one value, the spread is the difference to the square of the sum; its root must be truncated, not rounded.
    const variation = (spread: bigint) => variationOf({ count: 1, sum, squares: sum * sum + spread })
    const third = (sum * 333_333n) / 1_000_000n
    assert.equal(variation(third * third), 0.333333)
    assert.equal(variation(third * third - 1n), 0.333332)
  }
})

it('a mean that is not positive gives the largest variation, not a negative one', () => {
  assert.equal(variationOf({ count: 2, sum: -10n, squares: 100n }), RATIO_MAX)
})

it('a ratio to zero or less is RATIO_MAX', () => {
  assert.equal(ratioOf(5n, 0n), RATIO_MAX)
  assert.equal(ratioOf(10n ** 12n, 1n), RATIO_MAX)
  assert.equal(ratioOf(-(10n ** 12n), 1n), -RATIO_MAX)
  assert.equal(ratioOf(1n, 3n), 0.333333)
})

it('the median of an even number is the mean of the two in the middle', () => {
  assert.equal(medianMoney([40n, 10n, 30n, 20n]), 25n)
  assert.equal(medianMoney([40n, 10n, 30n]), 30n)
})
