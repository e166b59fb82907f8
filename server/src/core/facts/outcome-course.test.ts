import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { OUTCOME_TYPES, type OutcomeType } from '../vocabularies.ts'
import { currentOutcome, type Outcome } from './outcome-course.ts'

const at = (type: OutcomeType, day: number, id = 'out_1'): Outcome => ({
  id,
  type,
  occurredAt: `2026-03-0${day}T00:00:00.000Z`,
})
const stands = (before: OutcomeType, later: OutcomeType) => currentOutcome([at(before, 1), at(later, 2)])?.type

describe('the current outcome of a decision', () => {
  it('is the first report at first', () => {
    assert.equal(currentOutcome([]), undefined)
    for (const type of OUTCOME_TYPES) assert.equal(currentOutcome([at(type, 1)])?.type, type)
  })

  it('is never replaced by funded or closed', () => {
    for (const type of OUTCOME_TYPES) {
      assert.equal(stands(type, 'funded'), type)
      assert.equal(stands(type, 'closed'), type)
    }
  })

  it('is fraud or abuse once either is reported, whenever it happened', () => {
    for (const final of ['fraud_confirmed', 'access_abused'] as const) {
      for (const type of OUTCOME_TYPES) {
        assert.equal(stands(final, type), final)
        if (type !== 'fraud_confirmed' && type !== 'access_abused') assert.equal(stands(type, final), final)
      }
    }
  })

  it('stays default until it is repaid, settled or gets worse', () => {
    const after = (type: OutcomeType) =>
      OUTCOME_TYPES.filter((later) => later !== type && stands(type, later) === later)
    const worse = ['fraud_confirmed', 'access_abused']
    assert.deepEqual(after('default'), ['charged_off', 'repaid', 'settled', ...worse])
    assert.deepEqual(after('charged_off'), ['repaid', 'settled', ...worse])
  })

  it('is otherwise the one that happened last', () => {
    for (const type of ['current', 'repaid', 'settled', 'default', 'charged_off'] as const)
      assert.equal(stands('late', type), type)
    assert.equal(stands('repaid', 'default'), 'default')
  })

  it('does not depend on the order of reporting', () => {
    const reports = fc.uniqueArray(
      fc.record({
        id: fc.uuid(),
        type: fc.constantFrom(...OUTCOME_TYPES),
        occurredAt: fc.integer({ min: 1, max: 9 }).map((day) => at('late', day).occurredAt),
      }),
      { selector: ({ occurredAt }) => occurredAt },
    )
    const inTwoOrders = reports.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    )
    fc.assert(fc.property(inTwoOrders, ([one, other]) => assert.equal(currentOutcome(one), currentOutcome(other))))
    assert.equal(currentOutcome([at('default', 1), at('current', 3), at('repaid', 2)])?.type, 'current')
  })

  it('is the report made later, of two for one instant, in whatever order they are read', () => {
    const [first, second] = [at('current', 1, 'out_1'), at('late', 1, 'out_2')]
    assert.equal(currentOutcome([first, second]), second)
    assert.equal(currentOutcome([second, first]), second)
  })
})
