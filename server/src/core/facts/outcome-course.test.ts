import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { effectiveOutcome, type Outcome, type OutcomeType } from './outcome-course.ts'

const at = (type: OutcomeType, day: number): Outcome => ({ type, occurredAt: `2026-03-0${day}T00:00:00.000Z` })
const stands = (before: OutcomeType, later: OutcomeType) => effectiveOutcome(at(before, 1), at(later, 2)).type

const ALL: readonly OutcomeType[] = [
  'funded',
  'current',
  'late',
  'default',
  'charged_off',
  'repaid',
  'settled',
  'fraud_confirmed',
  'access_abused',
  'closed',
]

describe('the course of a decision', () => {
  it('starts with the first report', () => {
    for (const type of ALL) assert.equal(effectiveOutcome(undefined, at(type, 1)).type, type)
  })

  it('is never changed by what only opens or closes the books', () => {
    for (const type of ALL) {
      assert.equal(stands(type, 'funded'), type)
      assert.equal(stands(type, 'closed'), type)
    }
  })

  it('never leaves confirmed fraud or abuse, and reaches them from anywhere, whenever they happened', () => {
    for (const final of ['fraud_confirmed', 'access_abused'] as const) {
      for (const type of ALL) {
        assert.equal(stands(final, type), final)
        if (type !== 'fraud_confirmed' && type !== 'access_abused') {
          assert.equal(effectiveOutcome(at(type, 2), at(final, 1)).type, final)
        }
      }
    }
  })

  it('leaves a default only when it is repaid or settled, or gets worse', () => {
    const after = (type: OutcomeType) => ALL.filter((later) => later !== type && stands(type, later) === later)
    const worse = ['fraud_confirmed', 'access_abused']
    assert.deepEqual(after('default'), ['charged_off', 'repaid', 'settled', ...worse])
    assert.deepEqual(after('charged_off'), ['repaid', 'settled', ...worse])
  })

  it('is otherwise what happened last, whichever was reported last', () => {
    for (const type of ['current', 'repaid', 'settled', 'default', 'charged_off'] as const) {
      assert.equal(stands('late', type), type)
      assert.equal(effectiveOutcome(at(type, 2), at('late', 1)).type, type)
    }
    assert.equal(effectiveOutcome(at('repaid', 2), at('default', 1)).type, 'repaid')
    assert.equal(stands('repaid', 'default'), 'default')
  })

  it('takes the report made later, of two of one instant', () => {
    assert.equal(effectiveOutcome(at('current', 1), at('late', 1)).type, 'late')
    assert.equal(effectiveOutcome(at('late', 1), at('current', 1)).type, 'current')
  })
})
