import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { dayOf, decayPpm, PPM } from './decay.ts'

const halfLives = fc.integer({ min: 1, max: 4000 })
const ages = fc.integer({ min: 0, max: 40_000 })

describe('decay', () => {
  it('leaves all at first, a half after one half-life and a quarter after two', () => {
    for (const halfLife of [1, 7, 180, 365, 3650]) {
      assert.deepEqual(
        [0, 1, 2, 3].map((times) => decayPpm(times * halfLife, halfLife)),
        [1_000_000, 500_000, 250_000, 125_000],
      )
    }
  })

  it('is within 17 ppm of the exact power of two', () => {
    fc.assert(
      fc.property(ages, halfLives, (age, halfLife) => {
        const exact = PPM * 2 ** (-age / halfLife)
        assert.ok(Math.abs(decayPpm(age, halfLife) - exact) <= 17, `${decayPpm(age, halfLife)} for ${exact}`)
      }),
      { numRuns: 2000 },
    )
  })

  it('is an integer that never grows with age', () => {
    fc.assert(
      fc.property(ages, halfLives, (age, halfLife) => {
        const [today, tomorrow] = [decayPpm(age, halfLife), decayPpm(age + 1, halfLife)]
        assert.ok(Number.isInteger(today))
        assert.ok(tomorrow <= today)
      }),
      { numRuns: 2000 },
    )
  })

  it('gives the same figures on every engine', () => {
    assert.deepEqual(
      [1, 30, 100, 364, 400, 5000, 7300].map((age) => decayPpm(age, 365)),
      [998_112, 944_633, 827_052, 500_955, 467_851, 75, 0],
    )
  })

  it('treats a day in the future as today', () => {
    assert.equal(decayPpm(-5, 365), PPM)
  })
})

describe('a day', () => {
  it('is the same from midnight to midnight UTC', () => {
    const day = dayOf('2026-03-01T00:00:00.000Z')
    assert.equal(dayOf('2026-03-01T23:59:59.999Z'), day)
    assert.equal(dayOf('2026-03-02T00:00:00.000Z'), day + 1)
    assert.equal(dayOf('1970-01-01T12:00:00.000Z'), 0)
  })
})
