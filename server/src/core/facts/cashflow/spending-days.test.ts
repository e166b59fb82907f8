import assert from 'node:assert/strict'
import { it } from 'node:test'
import { deriveFacts } from '../derive-facts.ts'
import { applyTransactions, emptyState, type TransactionFact } from '../entity-state.ts'
import { newDay } from './day-bucket.ts'
import { dayFigures } from './day-figures.ts'
import { spendingDays } from './spending-days.ts'

const NOW = '2026-07-15T12:00:00.000Z'
const DAY_MS = 86_400_000

type Booking = Pick<TransactionFact, 'amount' | 'direction' | 'balanceAfter'> & { daysAgo: number }

/** Income of 1,000 every four weeks; spending a week later leaves 100, and another the week after leaves 30. */
const HAND_TO_MOUTH: Booking[] = Array.from({ length: 12 }, (_, month) => 28 * month).flatMap((ago): Booking[] => [
  { daysAgo: ago + 25, amount: 1000, direction: 'credit', balanceAfter: 1030 },
  { daysAgo: ago + 18, amount: 930, direction: 'debit', balanceAfter: 100 },
  { daysAgo: ago + 11, amount: 70, direction: 'debit', balanceAfter: 30 },
])

function factsOf(bookings: readonly Booking[]) {
  const transactions = bookings.map(({ daysAgo, ...booking }, index) => ({
    ...booking,
    externalId: String(index),
    currency: 'EUR',
    occurredAt: new Date(Date.parse(NOW) - daysAgo * DAY_MS).toISOString(),
  }))
  const state = applyTransactions(emptyState(), transactions)
  const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
  const { features } = deriveFacts({ state, entity: {}, request, now: NOW })
  const shown = ['days_observed', 'reserve', 'low_balance_share', 'average_balance', 'monthly_income'] as const
  return Object.fromEntries(shown.map((name) => [name, features[`cashflow.${name}`]]))
}

const eachMonth = (...bookings: Booking[]) =>
  Array.from({ length: 13 }, (_, month) =>
    bookings.map((one) => ({ ...one, daysAgo: one.daysAgo + 28 * month })),
  ).flat()

it('an account that is low after its payments shows it', () => {
  const facts = factsOf(HAND_TO_MOUTH)
  assert.deepEqual(facts.low_balance_share, { value: 1, age_days: 11 })
  assert.deepEqual(facts.reserve, { value: 30, age_days: 11 })
})

it('debits of next to nothing on the days with the highest balance change none of this', () => {
  const tiny = eachMonth({ daysAgo: 24, amount: 1, direction: 'debit', balanceAfter: 1029 })
  assert.deepEqual(factsOf([...HAND_TO_MOUTH, ...tiny]), factsOf(HAND_TO_MOUTH))
})

it('nor do they where they outnumber the days of spending', () => {
  const tiny = [24, 23, 22, 21, 20].flatMap((daysAgo) =>
    eachMonth({ daysAgo, amount: 1, direction: 'debit', balanceAfter: 1029 }),
  )
  assert.deepEqual(factsOf([...HAND_TO_MOUTH, ...tiny]), factsOf(HAND_TO_MOUTH))
})

for (const large of [1, 3])
  it(`an account with ${large} very large debits is judged by all of its days of spending`, () => {
    const ordinary = Array.from(
      { length: 100 },
      (_, index): Booking => ({ daysAgo: 3 * index + 2, amount: 60, direction: 'debit', balanceAfter: 80 }),
    )
    const cars = Array.from(
      { length: large },
      (_, index): Booking => ({ daysAgo: 3 * index + 4, amount: 200_000, direction: 'debit', balanceAfter: 500_000 }),
    )
    const facts = factsOf([...ordinary, ...cars])
    const { reserve, low_balance_share: lowShare } = facts
    assert.deepEqual(reserve, { value: 80, age_days: 2 })
    assert.ok(lowShare && 'value' in lowShare && Number(lowShare.value) > 0.9, JSON.stringify(facts))
  })

it('an account with few days of spending is judged by all of them, whatever the largest is', () => {
  const few: Booking[] = [60, 50, 40].map((daysAgo) => ({
    daysAgo,
    amount: 60,
    direction: 'debit',
    balanceAfter: 80,
  }))
  const car: Booking = { daysAgo: 30, amount: 200_000, direction: 'debit', balanceAfter: 500_000 }
  assert.deepEqual(factsOf([...few, car]).reserve, { value: 80, age_days: 30 })
})

it('money that comes in and leaves again in parts changes none of this', () => {
  const trips = eachMonth(
    { daysAgo: 24, amount: 900, direction: 'credit', balanceAfter: 1930 },
    { daysAgo: 23, amount: 500, direction: 'debit', balanceAfter: 1430 },
    { daysAgo: 22, amount: 400, direction: 'debit', balanceAfter: 1030 },
  )
  assert.deepEqual(factsOf([...HAND_TO_MOUTH, ...trips]), factsOf(HAND_TO_MOUTH))
})

it('a day counts from a twentieth of the average, for which no day is more than a quarter of the sum', () => {
  const counts = (outflows: readonly number[]) =>
    spendingDays(outflows.map((outflow, day) => dayFigures({ ...newDay(day), debits: [outflow] }))).map(
      ({ outflow }) => outflow,
    )
  const ordinary = Array(20).fill(1000)
  // Each of two large days counts as half of what the others take, a quarter of the sum.
  const large = [1_000_000, 1_000_000]
  assert.deepEqual(counts([...large, ...ordinary, 88]), [...large, ...ordinary, 88])
  assert.deepEqual(counts([...large, ...ordinary, 87]), [...large, ...ordinary])
  assert.deepEqual(counts([1, 1, 0]), [1, 1])
  // An average of exactly 20, with the smallest amount that there is.
  const near = Array(9).fill(22)
  assert.deepEqual(counts([...near, 21, 1]), [...near, 21, 1])
  assert.deepEqual(counts([...near, 22, 1]), [...near, 22])
})
