import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { remainingPpm } from './decay.ts'

const ages = fc.nat(5000)
const halfLives = fc.integer({ min: 1, max: 2000 })

it('the remaining share halves with every half-life, to a thousandth', () => {
  fc.assert(
    fc.property(ages, halfLives, (age, halfLife) => {
      assert.ok(Math.abs(remainingPpm(age, halfLife) - 1e6 * 2 ** (-age / halfLife)) < 1000)
    }),
  )
})

it('the remaining share never grows with age', () => {
  fc.assert(
    fc.property(ages, halfLives, (age, halfLife) => {
      assert.ok(remainingPpm(age + 1, halfLife) <= remainingPpm(age, halfLife))
    }),
  )
})
