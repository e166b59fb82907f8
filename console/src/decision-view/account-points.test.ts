import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FACT_WINDOWS, YEAR_DAYS } from '../../../server/src/core/facts/fact-windows.ts'
import { anyValue } from '../components/charts/layout/degenerate-values.ts'
import { type Account, balancesOf, monthsOf } from './account-points.ts'

// A label names the year only if it is not the present one.
const year = new Date().getUTCFullYear()
const account: Account = {
  currency: 'EUR',
  to: `${year}-11-22`,
  days: [
    { day: `${year}-10-01`, income: 3_000, spending: 900, lowest_balance: 1_200 },
    { day: `${year}-11-22`, income: 0, spending: 40, lowest_balance: null },
  ],
  windows: FACT_WINDOWS,
}

test('the months of an account are named by their last day, as a person would', () => {
  const months = monthsOf(account)
  assert.equal(months.length, 13)
  assert.deepEqual([months[0]!.label, months.at(-1)!.label], [`27 Nov ${year - 1}`, '22 Nov'])
  assert.deepEqual(months.at(-1)!.values, { income: 0, spending: 40 })
  assert.deepEqual(months.at(-2)!.values, { income: 3_000, spending: 900 })
})

test('a balance stays until the next one is reported, and is not known before the first', () => {
  const balances = balancesOf(account)
  assert.equal(balances.length, YEAR_DAYS)
  assert.equal(balances[0]!.values.balance, null)
  assert.equal(balances.at(-1)!.values.balance, 1_200)
})

test('any days of an account make one bar a month and one point a day', () => {
  const day = fc
    .date({ min: new Date(`${year - 1}-01-01`), max: new Date(`${year}-12-31`), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
  const amount = anyValue.map((value) => value ?? 0)
  const days = fc.array(fc.record({ day, income: amount, spending: amount, lowest_balance: anyValue }))
  fc.assert(
    fc.property(days, (each) => {
      assert.equal(monthsOf({ ...account, days: each }).length, 13)
      assert.equal(new Set(balancesOf({ ...account, days: each }).map(({ key }) => key)).size, YEAR_DAYS)
    }),
  )
})
