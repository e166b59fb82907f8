/** Cash-flow facts at the first and the last day of each window, and at each smallest number that shows something. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deriveFacts } from '../derive-facts.ts'
import { applyTransactions, emptyState, type TransactionFact } from '../entity-state.ts'
import { newDay, packDay, unpackDay } from './day-bucket.ts'
import { dayFigures } from './day-figures.ts'
import { incomeFigures, leanestIncome } from './income-facts.ts'

const NOW = '2026-07-15T12:00:00.000Z'
const DAY_MS = 86_400_000

/** One transaction some days ago: a credit if the amount is positive. */
function booked(days: number, amount: number, over: Partial<TransactionFact> = {}): TransactionFact {
  return {
    occurredAt: new Date(Date.parse(NOW) - days * DAY_MS).toISOString(),
    externalId: `${days}/${amount}`,
    amount: Math.abs(amount),
    currency: 'EUR',
    direction: amount > 0 ? 'credit' : 'debit',
    ...over,
  }
}

function factOf(transactions: readonly TransactionFact[], name: string) {
  const state = applyTransactions(emptyState(), transactions)
  const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
  const fact = deriveFacts({ state, entity: {}, request, now: NOW }).features[`cashflow.${name}`]
  return fact !== undefined && 'value' in fact ? fact.value : fact
}

/** A debit of 100 on every tenth day, from `from` to `to` days ago, each with the balance after it. */
function spending({ from = 360, to = 0, balanceAfter = 5000 } = {}): TransactionFact[] {
  const count = Math.floor((from - to) / 10) + 1
  return Array.from({ length: count }, (_, index) => booked(to + index * 10, -100, { balanceAfter }))
}

describe('an account is observed', () => {
  it('from its first to its last spending, if that is on three days over eight weeks', () => {
    const observed = (...days: number[]) =>
      factOf([booked(100, 500), ...days.map((ago) => booked(ago, -50))], 'days_observed')
    assert.equal(observed(60, 30, 4), 57)
    assert.equal(observed(59, 30, 4), 97, 'less than eight weeks: all transactions count')
    assert.equal(observed(60, 4), 97, 'two days of spending: all transactions count')
  })

  it('to a returned payment, which proves as much as a debit', () => {
    const debits = [70, 40, 14].map((ago) => booked(ago, -50))
    assert.equal(factOf(debits, 'days_observed'), 57)
    assert.equal(factOf([...debits, booked(2, 50, { category: 'returned_payment' })], 'days_observed'), 69)
    assert.equal(factOf([...debits, booked(90, 50, { category: 'returned_payment' })], 'days_observed'), 77)
  })

  it('by debits that are no spending, if there is no spending', () => {
    const transfers = [70, 40, 14].map((ago) => booked(ago, -50, { category: 'own_transfer' }))
    assert.equal(factOf([booked(100, 500), ...transfers], 'days_observed'), 57)
  })

  it('for a month before it shows a month of income', () => {
    const account = (days: number) => [booked(days, 900), booked(1, -50)]
    assert.equal(factOf(account(30), 'other_income'), 900)
    assert.deepEqual(factOf(account(29), 'other_income'), { missing: 'too_short' })
  })

  it('within the last year: what was before is as if it had never been', () => {
    const old = [500, 460, 420].map((ago) => booked(ago, -50))
    assert.deepEqual(factOf(old, 'days_observed'), { missing: 'no_data' })
    const elsewhere = old.map((debit) => ({ ...debit, occurredAt: booked(9, 1).occurredAt, currency: 'USD' }))
    assert.deepEqual(factOf([...old, ...elsewhere], 'days_observed'), { missing: 'other_currency' })
  })

  it('up to the day of the decision', () => {
    assert.equal(factOf([...spending(), booked(-1, -7)], 'days_since_last'), 0)
    assert.equal(factOf([...spending({ to: 10 }), booked(0, -100)], 'days_since_last'), 0)
  })
})

describe('a day below zero', () => {
  for (const [ago, in30, in90, in365] of [
    [29, 1, 1, 1],
    [30, 0, 1, 1],
    [89, 0, 1, 1],
    [90, 0, 0, 1],
    [364, 0, 0, 1],
    [365, 0, 0, 0],
  ] as const)
    it(`${ago} days ago counts ${in30} of 30, ${in90} of 90 and ${in365} of 365`, () => {
      const account = [booked(ago, -5, { balanceAfter: -5 }), booked(1, -5, { balanceAfter: 10 })]
      const counts = [30, 90, 365].map((days) => factOf(account, `overdrawn_days_${days}`))
      assert.deepEqual(counts, [in30, in90, in365])
      assert.equal(factOf(account, 'deepest_overdraft'), in365 * 5)
    })

  it('is one whose balance is below zero, not at zero', () => {
    const days = (balanceAfter: number) => factOf([booked(3, -5, { balanceAfter })], 'overdrawn_days_30')
    assert.deepEqual([days(-0.01), days(0), days(0.01)], [1, 0, 0])
  })

  it('is as deep as the lowest balance, whenever that was', () => {
    const account = [-5, -700, -20].map((balanceAfter, index) => booked(50 - index, -5, { balanceAfter }))
    assert.equal(factOf(account, 'deepest_overdraft'), 700)
    const between = booked(45, -5)
    assert.equal(factOf([...account, between], 'deepest_overdraft'), 700)
    assert.equal(factOf([booked(3, -5, { balanceAfter: 80 }), booked(2, -5)], 'deepest_overdraft'), 0)
    assert.deepEqual(factOf([booked(3, -5)], 'deepest_overdraft'), { missing: 'no_data' })
  })
})

describe('balances of half a year', () => {
  it('have as the lowest one of the 180 days before the decision, whenever the account was last observed', () => {
    const lowest = (ago: number, transactions = spending()) =>
      factOf([...transactions, booked(ago, -100, { balanceAfter: 7, externalId: 'low' })], 'lowest_balance')
    assert.deepEqual([lowest(179), lowest(180)], [7, 5000])
    // Without its newest debits, an account would otherwise be as low as it was before.
    const ended = spending({ to: 20 })
    assert.deepEqual([lowest(179, ended), lowest(181, ended)], [7, 5000])
    assert.deepEqual(factOf([booked(200, -5, { balanceAfter: 80 })], 'lowest_balance'), { missing: 'no_data' })
  })

  it('are low below one and a half times what the debits took', () => {
    const share = (balanceAfter: number) => factOf(spending({ balanceAfter }), 'low_balance_share')
    assert.deepEqual([share(149.99), share(150), share(150.01)], [1, 0, 0])
  })

  it('have as their reserve the one that a tenth of the days falls below', () => {
    const reserve = (lowDays: number) => {
      const days = spending({ from: 90 }).map((debit, index) =>
        index < lowDays ? { ...debit, balanceAfter: 3 } : debit,
      )
      return factOf(days, 'reserve')
    }
    assert.deepEqual([reserve(1), reserve(2)], [5000, 3], 'of ten days')
  })

  it('count for as long as they held', () => {
    const account = [
      booked(100, -100, { balanceAfter: 1000 }),
      booked(70, -100, { balanceAfter: 400 }),
      booked(1, -100, { balanceAfter: 0 }),
    ]
    assert.equal(factOf(account, 'average_balance'), (30 * 1000 + 69 * 400) / 100)
    // The mean is 576, the mean of the squares 410,400.
    assert.equal(factOf(account, 'balance_variation'), Math.floor((Math.sqrt(78_624) / 576) * 1e6) / 1e6)
    assert.equal(factOf(spending(), 'balance_variation'), 0)
    assert.equal(factOf(spending({ balanceAfter: 0 }), 'balance_variation'), 1000, 'nothing to compare with')
  })

  it('are those after credits, if no debit reports one', () => {
    const account = [booked(50, 900, { balanceAfter: 1200 }), booked(40, -10), booked(20, 900, { balanceAfter: 800 })]
    assert.equal(factOf(account, 'lowest_balance'), 800)
    assert.deepEqual(factOf(account, 'low_balance_share'), { missing: 'no_data' })
    assert.equal(factOf([...account, booked(10, -10, { balanceAfter: 900 })], 'lowest_balance'), 900)
  })
})

describe('the last balance', () => {
  it('is the latest, and of two at one instant that of the greater id, in whatever order they came', () => {
    const [early, late] = [booked(2, -5, { balanceAfter: 10 }), booked(1, -5, { balanceAfter: 20 })]
    const twin = { ...late, externalId: `${late.externalId}/2`, balanceAfter: 30 }
    for (const order of [
      [early, late, twin],
      [twin, late, early],
    ])
      assert.equal(factOf(order, 'last_balance'), 30)
    assert.equal(factOf([late, early], 'last_balance'), 20)
  })
})

describe('the repayment of loans', () => {
  const paid = (...agos: number[]) =>
    factOf(
      [...spending(), ...agos.map((ago) => booked(ago, -300, { category: 'loan_repayment' }))],
      'monthly_debt_service',
    )

  it('counts over 88 days as three months, and over the year if that is more', () => {
    assert.equal(paid(87), 100)
    assert.equal(paid(88), Math.floor((300 * 30 * 100) / 361) / 100)
    assert.equal(paid(87, 57, 27), 300)
  })

  it('counts over the months that were observed, if there are fewer than three', () => {
    const short = [...spending({ from: 59 }), booked(59, -100), booked(20, -300, { category: 'loan_repayment' })]
    assert.equal(factOf(short, 'monthly_debt_service'), 150)
  })
})

describe('sums of amounts below a cent', () => {
  it('are exact, and round down to cents only at the end', () => {
    const month = [booked(29, 0.0099), booked(0, -0.0099)]
    assert.deepEqual([factOf(month, 'other_income'), factOf(month, 'monthly_spending')], [0, 0])
    assert.equal(factOf(month, 'outflow_to_income'), Math.floor((0.5 * 30 * 1e6) / 29) / 1e6)
    const fiveWeeks = [booked(34, 0.0099), booked(0, -0.0099)]
    assert.equal(factOf(fiveWeeks, 'lowest_income_to_outflow'), 2.266666)
    const loan = [booked(29, 0.0099), booked(0, -0.0099, { category: 'loan_repayment' })]
    assert.deepEqual([factOf(loan, 'monthly_debt_service'), factOf(loan, 'monthly_spending')], [0, 0])
  })

  it('make the average balance and its variation', () => {
    const account = [booked(3, -5, { balanceAfter: 0.0099 })]
    assert.deepEqual([factOf(account, 'average_balance'), factOf(account, 'balance_variation')], [0, 0])
  })
})

describe('another currency', () => {
  it('counts with income on three days, and not with spending', () => {
    const others = (amount: number, ...agos: number[]) =>
      factOf([...spending(), ...agos.map((ago) => booked(ago, amount, { currency: 'USD' }))], 'other_currencies')
    assert.deepEqual([others(50, 9, 8), others(50, 9, 8, 7), others(-50, 9, 8, 7)], [0, 1, 0])
  })

  it('has its share of all debits, whatever they are and whatever they pay', () => {
    const debits = Array.from({ length: 6 }, (_, index) => booked(20 + 7 * index, -50))
    const share = (...others: TransactionFact[]) => factOf([...debits, ...others], 'debits_in_other_currencies')
    const dollars = (over: Partial<TransactionFact> = {}) => booked(9, -50, { currency: 'USD', ...over })
    assert.deepEqual([share(), share(booked(9, 50, { currency: 'USD' }))], [0, 0])
    for (const hidden of [{}, { category: 'own_transfer' }, { account: 'b' }, { amount: 0.01 }])
      assert.equal(share(dollars(hidden), booked(8, -1, { currency: 'JPY' })), 0.25, JSON.stringify(hidden))
    assert.equal(share(booked(364, -50, { currency: 'USD' }), dollars()), 0.25)
    assert.equal(share(booked(365, -50, { currency: 'USD' })), 0)
    assert.equal(factOf([dollars()], 'debits_in_other_currencies'), 1)
    assert.deepEqual(factOf([booked(9, 50)], 'debits_in_other_currencies'), { missing: 'no_data' })
  })

  it('has a share above nothing by a single debit among millions', () => {
    const state = applyTransactions(emptyState(), [booked(9, -50), booked(9, -50, { currency: 'USD' })])
    const [account] = Object.values(state.cashflow.currencies.EUR!.accounts)
    account!.days = account!.days.map((day) => packDay({ ...unpackDay(day), debitCount: 3_000_000 }))
    const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
    const { features } = deriveFacts({ state, entity: {}, request, now: NOW })
    assert.deepEqual(features['cashflow.debits_in_other_currencies'], { value: 1e-6 })
  })

  it('is unknown where no transaction is of the last year', () => {
    assert.deepEqual(factOf([booked(365, -50)], 'other_currencies'), { missing: 'no_data' })
    assert.equal(factOf([booked(364, -50)], 'other_currencies'), 0)
  })
})

describe('money that goes around', () => {
  it('has no share where nothing came in, and none of the least that came in', () => {
    assert.deepEqual(factOf(spending(), 'circular_share'), { missing: 'no_data' })
    assert.equal(factOf([...spending(), booked(200, 0.01)], 'circular_share'), 0)
  })
})

describe('income that recurred', () => {
  const monthly = (...days: number[]) => ({
    everyDays: 30.4375,
    isSteady: true,
    payments: days.map((day): [number, number] => [day, 304_375]),
  })
  const figures = (streams: ReturnType<typeof monthly>[], span: { first: number; last: number }) => {
    return incomeFigures({ streams }, { income: 0, span })
  }

  it('runs for one and a half cadences and five days after its last payment', () => {
    const at = (last: number) => figures([monthly(0, 30, 60)], { first: 0, last })
    assert.deepEqual([at(110).recurring, at(110).stopped, at(110).other], [300_000, 0, 0])
    assert.deepEqual([at(111).recurring, at(111).stopped], [0, 300_000])
  })

  it('still runs on the last of these days', () => {
    const fortnightly = { ...monthly(0, 14, 28), everyDays: 14 }
    const at = (last: number) => figures([fortnightly], { first: 0, last }).recurring > 0
    assert.deepEqual([at(28 + 26), at(28 + 27)], [true, false])
  })

  it('is forgotten if it ended more than a cadence before the account was observed', () => {
    const at = (first: number) => figures([monthly(0, 30, 60)], { first, last: 300 })
    assert.deepEqual([at(90).stopped, at(91).stopped], [300_000, 0])
    assert.deepEqual([at(90).lastPaid, at(91).lastPaid], [60, undefined])
  })

  it('counts as lost with what else was paid at the same time, and not with what came after it', () => {
    const lost = (start: number) =>
      figures([monthly(0, 30, 60), monthly(start, start + 30, start + 60)], { first: 0, last: 400 }).stopped
    assert.deepEqual([lost(60), lost(61)], [600_000, 300_000])
  })

  it('was last paid when its largest stream was', () => {
    const small = {
      ...monthly(5, 35, 65),
      payments: monthly(5, 35, 65).payments.map(([day]): [number, number] => [day, 9]),
    }
    assert.equal(figures([small, monthly(0, 30, 60)], { first: 0, last: 80 }).lastPaid, 60)
  })
})

describe('income beside the streams', () => {
  const other = (...agos: number[]) =>
    factOf([...spending({ from: 90, to: 10 }), ...agos.map((ago) => booked(ago, 81))], 'other_income')

  it('is what came in per month, from the first to the last day of the span', () => {
    assert.equal(other(), 0)
    assert.equal(other(91, 9), 0)
    assert.equal(other(91, 90, 10, 9), 60)
  })
})

describe('the leanest five weeks', () => {
  const leanest = (last: number, ...days: number[]) =>
    leanestIncome(
      days.map((day) => dayFigures({ ...newDay(day), otherCredits: 100 })),
      { first: 0, last },
    )

  it('are 35 days, and a shorter span has none', () => {
    assert.deepEqual([leanest(33, 5), leanest(34, 5)], [undefined, 100])
    assert.equal(leanestIncome([], { first: 100, last: 133 }), undefined)
    assert.deepEqual([leanest(200, 34, 68, 102, 136, 170), leanest(200, 35, 69, 103, 137, 171)], [100, 0])
  })

  it('may be the last of the span', () => {
    assert.deepEqual([leanest(70, 0, 35), leanest(69, 0, 35)], [0, 100])
  })

  it('begin with the span or right after a payment', () => {
    assert.equal(leanest(105, 0, 20, 40, 60, 80, 100), 100)
    assert.equal(leanest(105, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100), 300)
  })
})
