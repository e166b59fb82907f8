import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../canonical-json.ts'
import { OUTCOME_TYPES, type OutcomeType } from '../vocabularies.ts'
import { deriveFacts } from './derive-facts.ts'
import { applyOutcome, applyRetraction, type EntityState, emptyState, type OutcomeFact } from './entity-state.ts'
import { undoesRepayment, withoutCreditOf } from './history-state.ts'
import { isNeutral } from './outcome-course.ts'

/** A report without its id, which is assigned in the order of reporting. */
type Report = Omit<OutcomeFact, 'id'>

const day = (number: number) => `2026-03-${String(number).padStart(2, '0')}T00:00:00.000Z`
const outcome = (type: OutcomeType, at: number, over: Partial<Report> = {}): Report => ({
  decisionId: 'dec_1',
  type,
  occurredAt: day(at),
  ...over,
})
const funded = (at: number, amount: number, over: Partial<Report> = {}) =>
  outcome('funded', at, { amount, currency: 'EUR', ...over })

/** Applies reports one after the other, each with the earlier reports about its decision. */
function historyOf(reports: readonly Report[]): EntityState {
  return historyOfFacts(reports.map(withId))
}

function withId(report: Report, index: number): OutcomeFact {
  return { ...report, id: `out_${String(index).padStart(4, '0')}` }
}

function historyOfFacts(reports: readonly OutcomeFact[]): EntityState {
  return reports.reduce((state, report, index) => {
    return JSON.parse(
      JSON.stringify(applyOutcome(state, report, reportsBefore(state, report, reports.slice(0, index)))),
    )
  }, emptyState())
}

/** What an endpoint reads before it adds a report: all others only where they are needed. */
function reportsBefore({ history }: EntityState, report: OutcomeFact, allOthers: readonly OutcomeFact[]) {
  const earlier = allOthers.filter(({ decisionId }) => decisionId === report.decisionId)
  return { earlier, ...(undoesRepayment(history, report, earlier) && { allOthers }) }
}

function factsOf(state: EntityState, currency = 'EUR') {
  const request = { product: 'default', requestedAmount: 1, currency }
  const { features } = deriveFacts({ state, entity: {}, request, now: day(30) })
  return (name: string) => {
    const fact = features[`history.${name}`]
    return fact && 'value' in fact ? fact.value : undefined
  }
}

/** Asserts facts of the history for every order of reporting the given outcomes. */
function assertInEveryOrder(reports: readonly Report[], expected: Record<string, number>): void {
  for (const order of ordersOf(reports)) {
    const fact = factsOf(historyOf(order))
    const types = order.map(({ type }) => type).join(', ')
    for (const [name, value] of Object.entries(expected)) assert.equal(fact(name), value, `${name}: ${types}`)
  }
}

function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first, index) =>
    ordersOf([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [first, ...rest]),
  )
}

describe('own history', () => {
  it('has no delay where no report names one', () => {
    assert.equal(historyOf([outcome('late', 1)]).history.worstDaysPastDue, 0)
  })

  it('counts a credit repaid once, however often that is reported', () => {
    const fact = factsOf(historyOf([outcome('repaid', 1), outcome('repaid', 2), outcome('repaid', 3)]))
    assert.equal(fact('repaid'), 1)
  })

  it('counts each decision by its latest outcome', () => {
    const late = outcome('late', 1, { daysPastDue: 31 })
    const other = outcome('late', 2, { decisionId: 'dec_2' })
    const state = historyOf([late, outcome('default', 2), other, outcome('repaid', 3)])
    const fact = factsOf(state)
    assert.deepEqual([fact('late'), fact('defaults'), fact('repaid')], [1, 0, 0])
    assert.equal(fact('worst_days_past_due'), 31)
    assert.deepEqual(state.history.outcomes, { late: 1 })
  })

  it('does not count a credit as repaid that was made good after a default, until the default is taken back', () => {
    assertInEveryOrder([outcome('default', 2), outcome('repaid', 3)], { defaults: 0, repaid: 0 })
    assertInEveryOrder([outcome('charged_off', 2), outcome('repaid', 3)], { defaults: 0, repaid: 0 })
    assertInEveryOrder([outcome('late', 2), outcome('repaid', 3)], { repaid: 1, late: 0 })
    const [taken, repaid] = [outcome('default', 2), outcome('repaid', 3)].map(withId)
    const state = applyRetraction(historyOfFacts([taken!, repaid!]), taken!, {
      others: [repaid!],
      allOthers: [repaid!],
    })
    assert.equal(factsOf(state)('repaid'), 1)
  })

  it('counts a default as cured even if the cure is reported after a later outcome', () => {
    const expected = { defaults: 0, repaid: 0, late: 0 }
    assertInEveryOrder([outcome('default', 1), outcome('repaid', 2), outcome('current', 3)], expected)
  })

  it('keeps the longest delay even if it is reported after the credit was repaid', () => {
    const late = outcome('late', 1, { daysPastDue: 90 })
    assertInEveryOrder([late, outcome('repaid', 2)], { worst_days_past_due: 90, repaid: 1, late: 0 })
  })

  it('sums the open credits by currency until each credit ends', () => {
    const second = funded(1, 200.2, { decisionId: 'dec_2' })
    const third = funded(1, 50, { currency: 'USD', decisionId: 'dec_3' })
    const open = factsOf(historyOf([funded(1, 100.1), second, third, outcome('late', 2)]))
    assert.deepEqual([open('outstanding'), open('open_in_other_currency')], [300.3, 1])
    for (const type of ['repaid', 'settled', 'charged_off', 'closed'] as const) {
      assert.equal(factsOf(historyOf([funded(1, 100.1), second, outcome(type, 3)]))('outstanding'), 200.2, type)
    }
    assert.equal(factsOf(historyOf([funded(1, 100.1), outcome('default', 3)]))('outstanding'), 100.1)
  })

  it('opens no credit for a draw that is reported after the credit ended', () => {
    for (const end of ['repaid', 'settled', 'charged_off', 'closed'] as const) {
      assertInEveryOrder([funded(1, 100), outcome('late', 2), outcome(end, 3)], { outstanding: 0 })
    }
  })

  it('sums the draws of one decision in each currency', () => {
    assertInEveryOrder([funded(1, 5000), funded(2, 3000)], { outstanding: 8000 })
    assertInEveryOrder([funded(1, 5000), funded(1, 3000)], { outstanding: 8000 })
    const dollars = funded(2, 3000, { currency: 'USD' })
    assertInEveryOrder([funded(1, 5000), dollars], { outstanding: 5000, open_in_other_currency: 1 })
    assertInEveryOrder([funded(1, 5000), dollars, outcome('closed', 3)], { outstanding: 0, open_in_other_currency: 0 })
  })

  it('opens no credit for a draw without an amount, or without a currency', () => {
    const unpaid = [
      outcome('funded', 1),
      outcome('funded', 2, { currency: 'EUR' }),
      outcome('funded', 3, { amount: 9 }),
    ]
    assertInEveryOrder(unpaid, { outstanding: 0, open_in_other_currency: 0 })
  })

  it('counts a draw once if it is reported twice', () => {
    assertInEveryOrder([funded(1, 5000), funded(1, 5000), funded(2, 5000)], { outstanding: 10_000 })
  })

  it('counts a draw after the end as a new debt', () => {
    assertInEveryOrder([funded(1, 5000), outcome('repaid', 2), funded(3, 3000)], { outstanding: 3000, repaid: 1 })
  })

  it('orders funded first and closed last among outcomes of one instant', () => {
    assertInEveryOrder([funded(1, 5000), outcome('repaid', 1)], { outstanding: 0 })
    assertInEveryOrder([funded(1, 5000), outcome('late', 1), outcome('closed', 1)], { outstanding: 0, late: 1 })
  })

  it('opens a credit again if a later outcome replaces its end', () => {
    const repaid = [funded(1, 5000), outcome('repaid', 2)]
    for (const type of ['current', 'late', 'default'] as const)
      assertInEveryOrder([...repaid, outcome(type, 3)], { outstanding: 5000, repaid: 0 })
    assertInEveryOrder([...repaid, outcome('fraud_confirmed', 3)], { outstanding: 0, abuse: 1 })
    const writtenOff = [funded(1, 5000), outcome('charged_off', 2), outcome('current', 3)]
    assertInEveryOrder(writtenOff, { outstanding: 0, defaults: 1 })
  })

  it('keeps the largest credit repaid in full, by currency', () => {
    const dollars = funded(1, 70, { currency: 'USD', decisionId: 'dec_2' })
    const both = [funded(1, 5000), dollars, outcome('repaid', 2), outcome('repaid', 2, { decisionId: 'dec_2' })]
    assertInEveryOrder(both, { largest_repaid: 5000 })
    assert.equal(factsOf(historyOf(both), 'USD')('largest_repaid'), 70)
    assert.equal(factsOf(historyOf(both), 'GBP')('largest_repaid'), 0)
    assertInEveryOrder([funded(1, 5000), outcome('settled', 2)], { largest_repaid: 0 })
    assertInEveryOrder([funded(1, 5000), outcome('closed', 2)], { largest_repaid: 0 })
    assertInEveryOrder([funded(1, 5000), outcome('default', 2), outcome('repaid', 3)], { largest_repaid: 5000 })
  })

  it('has repaid what was drawn since the credit last ended, not all that was ever drawn', () => {
    const line = [funded(1, 300), outcome('repaid', 2), funded(3, 200), outcome('repaid', 4)]
    assertInEveryOrder(line, { largest_repaid: 300 })
    assertInEveryOrder(line.slice(0, 3), { largest_repaid: 300, outstanding: 200 })
    assertInEveryOrder([funded(1, 300), funded(2, 200), outcome('repaid', 4)], { largest_repaid: 500 })
  })

  it('falls back to the next largest credit where a repayment bounced or the credit was fraud', () => {
    const small = [funded(1, 80, { decisionId: 'dec_2' }), outcome('repaid', 2, { decisionId: 'dec_2' })]
    for (const type of ['current', 'late', 'default', 'fraud_confirmed'] as const)
      assertInEveryOrder([funded(1, 5000), outcome('repaid', 2), outcome(type, 3), ...small], { largest_repaid: 80 })
  })

  it('dates the latest default or charge-off, made good or not', () => {
    const defaulted = [outcome('default', 4), outcome('repaid', 20)]
    assertInEveryOrder(defaulted, { days_since_default: 26, defaults: 0 })
    const other = outcome('charged_off', 9, { decisionId: 'dec_2' })
    assertInEveryOrder([...defaulted, other], { days_since_default: 21 })
    const old = outcome('default', 1, { occurredAt: '1999-03-01T00:00:00.000Z' })
    for (const none of [[outcome('late', 1), outcome('settled', 2)], [], [old]])
      assert.equal(factsOf(historyOf(none))('days_since_default'), 3650)
  })

  it('counts any number of open credits exactly in bounded space', () => {
    const open = Array.from({ length: 300 }, (_, index) => funded(1, 0.1, { decisionId: `dec_${index}` }))
    const ends = open.slice(0, 299).map(({ decisionId }) => outcome('repaid', 2, { decisionId }))
    assert.equal(factsOf(historyOf(open))('outstanding'), 30)
    assert.deepEqual(historyOf(open).history.openCredits, { EUR: { credits: 300, units: '300000' } })
    assert.equal(factsOf(historyOf([...open, ...ends]))('outstanding'), 0.1)
    assert.deepEqual(historyOf([...ends, ...open]).history, historyOf([...open, ...ends]).history)
  })

  it('does not depend on the order in which outcomes are reported', () => {
    fc.assert(
      fc.property(inTwoOrders, ([one, other]) => {
        const [first, second] = [historyOf(one), historyOf(other)]
        assert.equal(canonicalJson(first), canonicalJson(second))
      }),
    )
  })

  it('is after a retraction what it would be without the retracted report', () => {
    fc.assert(
      fc.property(inTwoOrders, fc.nat(), ([all], pick) => {
        if (all.length === 0) return
        const facts = all.map(withId)
        const retracted = facts[pick % facts.length]!
        const allOthers = facts.filter(({ id }) => id !== retracted.id)
        const others = allOthers.filter(({ decisionId }) => decisionId === retracted.decisionId)
        const state = applyRetraction(historyOfFacts(facts), retracted, { others, allOthers })
        assert.equal(canonicalJson(state), canonicalJson(historyOfFacts(allOthers)))
      }),
    )
  })

  it('owes without one decision what the others owe, and counts all else as it was', () => {
    fc.assert(
      fc.property(inTwoOrders, ([all]) => {
        const facts = all.map(withId)
        const { history } = historyOfFacts(facts)
        const own = facts.filter(({ decisionId }) => decisionId === 'dec_1')
        const others = historyOfFacts(facts.filter(({ decisionId }) => decisionId !== 'dec_1')).history
        const expected = { ...history, openCredits: others.openCredits }
        assert.equal(canonicalJson(withoutCreditOf(history, own)), canonicalJson(expected))
      }),
    )
  })

  it('is the sum of the histories of single decisions', () => {
    fc.assert(
      fc.property(inTwoOrders, ([all]) => {
        const together = factsOf(historyOf(all))
        const decisions = [...new Set(all.map(({ decisionId }) => decisionId))]
        const single = decisions.map((id) => factsOf(historyOf(all.filter(({ decisionId }) => decisionId === id))))
        for (const name of ['repaid', 'late', 'settled', 'defaults', 'abuse', 'outstanding', 'open_in_other_currency'])
          assert.equal(
            together(name),
            single.reduce((sum, fact) => sum + (fact(name) as number), 0),
            name,
          )
      }),
    )
  })
})
const decisionIds = fc.constantFrom('dec_1', 'dec_2', 'dec_3')
const instants = fc.integer({ min: 1, max: 20 }).map(day)
/** Reports without two of one instant for one decision, where the order of reporting is meant to matter. */
const reported: fc.Arbitrary<Report[]> = fc.uniqueArray(
  fc.record(
    {
      decisionId: decisionIds,
      type: fc.constantFrom(...OUTCOME_TYPES.filter((type) => !isNeutral(type))),
      occurredAt: instants,
      daysPastDue: fc.nat(400),
    },
    { requiredKeys: ['decisionId', 'type', 'occurredAt'] },
  ),
  { selector: ({ decisionId, occurredAt }) => `${decisionId} ${occurredAt}`, maxLength: 12 },
)
const draws: fc.Arbitrary<Report[]> = fc.array(
  fc.record({
    decisionId: decisionIds,
    type: fc.constantFrom('funded', 'funded', 'closed'),
    occurredAt: instants,
    amount: fc.integer({ min: 0, max: 40 }).map((quarters) => quarters / 4),
    currency: fc.constantFrom('EUR', 'USD'),
  }),
  { maxLength: 8 },
)
const inTwoOrders = fc.tuple(reported, draws).chain(([some, others]) => {
  const all = [...some, ...others]
  const shuffled = fc.shuffledSubarray(all, { minLength: all.length })
  return fc.tuple(shuffled, shuffled)
})
