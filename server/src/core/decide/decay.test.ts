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

it('the remaining share is interpolated between sixteenths of a half-life, and rounded down', () => {
  for (const [ageDays, halfLifeDays, ppm] of [
    [0, 32, 1_000_000],
    [2, 32, 957_603],
    // Halfway between 957,603 and 917,004 is 937,303.5.
    [3, 32, 937_303],
    [32, 32, 500_000],
    // Half of 917,004, and of what is halfway after it: 897,565 and a half of a half.
    [36, 32, 458_502],
    [34, 32, 478_801],
    [96, 32, 125_000],
    [19 * 32, 32, 1],
    [20 * 32, 32, 0],
  ] as const)
    assert.equal(remainingPpm(ageDays, halfLifeDays), ppm, `${ageDays} days of ${halfLifeDays}`)
})
