import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { dayOf } from './decay.ts'
import { type EvidenceOutcome, evidenceOf, NO_EVIDENCE, type OutcomeTally, recordOutcome } from './evidence.ts'

// The first day of a thirty-day period.
const AT = '2026-01-07T00:00:00.000Z'
const TODAY = dayOf(AT)

const outcome = (type: EvidenceOutcome['type'], occurredAt = AT): EvidenceOutcome => ({ type, occurredAt })
const evidenceAfter = (...types: EvidenceOutcome['type'][]) => {
  const tallies = types.reduce<OutcomeTally[]>((all, type) => recordOutcome(all, outcome(type)), [])
  return evidenceOf(tallies, TODAY)
}

const outcomes: fc.Arbitrary<EvidenceOutcome> = fc.record({
  type: fc.constantFrom('funded', 'current', 'late', 'default', 'repaid', 'fraud_confirmed', 'settled', 'closed'),
  occurredAt: fc
    .date({ min: new Date('2005-01-01T00:00:00Z'), max: new Date(AT), noInvalidDate: true })
    .map((date) => date.toISOString()),
})

describe('evidence', () => {
  it('starts from nothing known, and what says nothing leaves it there', () => {
    assert.deepEqual(evidenceOf([], TODAY), NO_EVIDENCE)
    assert.deepEqual(evidenceAfter('funded', 'closed'), NO_EVIDENCE)
  })

  it('is q⁻ = b / (b + g/4 + 1) and q⁺ = (g/4) / (b + g/4 + 1)', () => {
    assert.deepEqual(evidenceAfter('default'), { adversePpm: 500_000, favourablePpm: 0 })
    assert.deepEqual(evidenceAfter('fraud_confirmed'), { adversePpm: 750_000, favourablePpm: 0 })
    assert.deepEqual(evidenceAfter('late'), { adversePpm: 200_000, favourablePpm: 0 })
    assert.deepEqual(evidenceAfter('repaid', 'repaid', 'repaid', 'repaid'), { adversePpm: 0, favourablePpm: 500_000 })
    assert.deepEqual(evidenceAfter('default', 'repaid', 'repaid', 'repaid', 'repaid'), {
      adversePpm: 333_333,
      favourablePpm: 333_333,
    })
  })

  it('never claims to know more than everything', () => {
    fc.assert(
      fc.property(fc.array(outcomes, { maxLength: 60 }), (all) => {
        const { adversePpm, favourablePpm } = evidenceOf(
          all.reduce<OutcomeTally[]>((known, one) => recordOutcome(known, one), []),
          TODAY,
        )
        assert.ok(adversePpm >= 0 && favourablePpm >= 0 && adversePpm + favourablePpm < 1_000_000)
      }),
    )
  })

  it('fades: after two years a default weighs as half a default does', () => {
    const tallies = recordOutcome([], outcome('default'))
    assert.equal(evidenceOf(tallies, TODAY + 730).adversePpm, 333_333)
    assert.equal(evidenceOf(tallies, TODAY + 20 * 730).adversePpm, 0)
  })

  it('counts a loan that went late, then bad, as one bad loan', () => {
    const late = outcome('late')
    const tallies = recordOutcome(recordOutcome([], late), outcome('default'), late)
    assert.deepEqual(evidenceOf(tallies, TODAY), evidenceAfter('default'))
  })

  it('does not depend on the order in which outcomes are recorded, and does not grow without end', () => {
    const twoOrders = fc
      .array(outcomes, { maxLength: 300, size: 'max' })
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
    fc.assert(
      fc.property(twoOrders, ([one, other]) => {
        const [first, second] = [one, other].map((all) =>
          all.reduce<OutcomeTally[]>((known, next) => recordOutcome(known, next), []),
        )
        assert.deepEqual(first, second)
        assert.ok(first!.length <= 122)
      }),
      { numRuns: 30 },
    )
  })
})
