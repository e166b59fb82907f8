import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deriveFacts } from './derive-facts.ts'
import { applyOutcome, type EntityState, emptyState, type OutcomeFact } from './entity-state.ts'
import { effectiveOutcome, type OutcomeType } from './outcome-course.ts'

const day = (number: number) => `2026-03-${String(number).padStart(2, '0')}T00:00:00.000Z`
const outcome = (type: OutcomeType, at: number, over: Partial<OutcomeFact> = {}): OutcomeFact => ({
  decisionId: 'dec_1',
  type,
  occurredAt: day(at),
  ...over,
})

/** Applies reports as a caller does: what does not replace the effective outcome is left out, unless it is neutral. */
function historyOf(reports: readonly OutcomeFact[]): EntityState {
  const effective = new Map<string, OutcomeFact>()
  let state = emptyState()
  for (const report of reports) {
    const previous = effective.get(report.decisionId)
    const stands = effectiveOutcome(previous, report)
    effective.set(report.decisionId, stands)
    const isNeutral = report.type === 'funded' || report.type === 'closed'
    if (stands === report || isNeutral) state = applyOutcome(state, report, previous)
  }
  return state
}

function factsOf(state: EntityState, currency = 'EUR') {
  const request = { product: 'default', requestedAmount: 1, currency }
  const { features } = deriveFacts({ state, entity: {}, request, now: day(30) })
  return (name: string) => {
    const fact = features[`history.${name}`]
    return fact && 'value' in fact ? fact.value : undefined
  }
}

describe('own history', () => {
  it('counts a credit repaid once, however often that is reported', () => {
    const fact = factsOf(historyOf([outcome('repaid', 1), outcome('repaid', 2), outcome('repaid', 3)]))
    assert.equal(fact('repaid'), 1)
  })

  it('counts each decision by what became of it last', () => {
    const late = outcome('late', 1, { daysPastDue: 31 })
    const other = outcome('late', 2, { decisionId: 'dec_2' })
    const state = historyOf([late, outcome('default', 2), other, outcome('repaid', 3)])
    const fact = factsOf(state)
    assert.deepEqual([fact('late'), fact('defaults'), fact('repaid')], [1, 0, 1])
    assert.equal(fact('worst_days_past_due'), 31)
    assert.deepEqual(state.history.outcomes, { late: 1, repaid: 1 })
  })

  it('adds up what is outstanding, by currency, until each credit ends', () => {
    const funded = outcome('funded', 1, { amount: 100.1, currency: 'EUR' })
    const second = outcome('funded', 1, { amount: 200.2, currency: 'EUR', decisionId: 'dec_2' })
    const third = outcome('funded', 1, { amount: 50, currency: 'USD', decisionId: 'dec_3' })
    const open = factsOf(historyOf([funded, second, third, outcome('late', 2)]))
    assert.deepEqual([open('outstanding'), open('open_in_other_currency')], [300.3, 1])
    for (const type of ['repaid', 'settled', 'charged_off', 'closed'] as const) {
      assert.equal(factsOf(historyOf([funded, second, outcome(type, 3)]))('outstanding'), 200.2, type)
    }
    assert.equal(factsOf(historyOf([funded, outcome('default', 3)]))('outstanding'), 100.1)
  })

  it('opens nothing for a funding that is reported after the credit has ended', () => {
    const funded = outcome('funded', 1, { amount: 100, currency: 'EUR' })
    assert.equal(factsOf(historyOf([outcome('repaid', 3), funded]))('outstanding'), 0)
  })

  it('keeps at most a hundred open credits', () => {
    const many = Array.from({ length: 300 }, (_, index) =>
      outcome('funded', 1, { amount: 1, currency: 'EUR', decisionId: `dec_${index}` }),
    )
    assert.equal(factsOf(historyOf(many))('outstanding'), 100)
  })
})
