import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { dayOf } from './decay.ts'
import {
  type DatedOutcome,
  NO_TRACK_RECORD,
  type OutcomeTally,
  tallyOutcome,
  trackRecordOf,
  untallyOutcome,
} from './track-record.ts'

// The first day of a thirty-day period.
const AT = '2026-01-07T00:00:00.000Z'
const TODAY = dayOf(AT)

const outcome = (type: DatedOutcome['type'], occurredAt = AT): DatedOutcome => ({ type, occurredAt })
const trackRecordAfter = (...types: DatedOutcome['type'][]) => {
  const tallies = types.reduce<OutcomeTally[]>((all, type) => tallyOutcome(all, outcome(type)), [])
  return trackRecordOf(tallies, TODAY)
}

const outcomes: fc.Arbitrary<DatedOutcome> = fc.record({
  type: fc.constantFrom('funded', 'current', 'late', 'default', 'repaid', 'fraud_confirmed', 'settled', 'closed'),
  occurredAt: fc
    .date({ min: new Date('2005-01-01T00:00:00Z'), max: new Date(AT), noInvalidDate: true })
    .map((date) => date.toISOString()),
})

describe('a track record', () => {
  it('is empty without outcomes, and after outcomes that are neither good nor bad', () => {
    assert.deepEqual(trackRecordOf([], TODAY), NO_TRACK_RECORD)
    assert.deepEqual(trackRecordAfter('funded', 'closed'), NO_TRACK_RECORD)
  })

  it('is q⁻ = b / (b + g/4 + 1) and q⁺ = (g/4) / (b + g/4 + 1)', () => {
    assert.deepEqual(trackRecordAfter('default'), { adversePpm: 500_000, favourablePpm: 0 })
    assert.deepEqual(trackRecordAfter('fraud_confirmed'), { adversePpm: 750_000, favourablePpm: 0 })
    assert.deepEqual(trackRecordAfter('late'), { adversePpm: 200_000, favourablePpm: 0 })
    assert.deepEqual(trackRecordAfter('repaid', 'repaid', 'repaid', 'repaid'), {
      adversePpm: 0,
      favourablePpm: 500_000,
    })
    assert.deepEqual(trackRecordAfter('default', 'repaid', 'repaid', 'repaid', 'repaid'), {
      adversePpm: 333_333,
      favourablePpm: 333_333,
    })
  })

  it('never adds up to one whole or more', () => {
    fc.assert(
      fc.property(fc.array(outcomes, { maxLength: 60 }), (all) => {
        const { adversePpm, favourablePpm } = trackRecordOf(
          all.reduce<OutcomeTally[]>((known, one) => tallyOutcome(known, one), []),
          TODAY,
        )
        assert.ok(adversePpm >= 0 && favourablePpm >= 0 && adversePpm + favourablePpm < 1_000_000)
      }),
    )
  })

  it('decays: after two years a default has half its weight, after forty none', () => {
    const tallies = tallyOutcome([], outcome('default'))
    assert.equal(trackRecordOf(tallies, TODAY + 730).adversePpm, 333_333)
    assert.equal(trackRecordOf(tallies, TODAY + 20 * 730).adversePpm, 0)
  })

  it('counts a loan that went late and then defaulted as one default', () => {
    const late = outcome('late')
    const tallies = tallyOutcome(tallyOutcome([], late), outcome('default'), late)
    assert.deepEqual(trackRecordOf(tallies, TODAY), trackRecordAfter('default'))
  })

  it('is after a retraction what it was without the retracted outcome', () => {
    fc.assert(
      fc.property(fc.array(outcomes, { maxLength: 20 }), outcomes, (all, retracted) => {
        const without = all.reduce<OutcomeTally[]>((known, one) => tallyOutcome(known, one), [])
        const tallies = untallyOutcome(tallyOutcome(without, retracted), retracted)
        assert.deepEqual(trackRecordOf(tallies, TODAY), trackRecordOf(without, TODAY))
      }),
    )
  })

  it('does not depend on the order in which outcomes are recorded, and keeps at most 122 periods', () => {
    const twoOrders = fc
      .array(outcomes, { maxLength: 300, size: 'max' })
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
    fc.assert(
      fc.property(twoOrders, ([one, other]) => {
        const [first, second] = [one, other].map((all) =>
          all.reduce<OutcomeTally[]>((known, next) => tallyOutcome(known, next), []),
        )
        assert.deepEqual(first, second)
        assert.ok(first!.length <= 122)
      }),
      { numRuns: 30 },
    )
  })
})
