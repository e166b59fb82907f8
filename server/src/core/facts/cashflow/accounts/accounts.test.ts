/** The facts of several accounts: what they hold together, what moves between them, and what is owed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AccountKind } from '../../../vocabularies.ts'
import { deriveFacts } from '../../derive-facts.ts'
import { applyCashflow, type CashflowFacts, emptyState, type TransactionFact } from '../../entity-state.ts'
import type { Fact } from '../../facts.ts'
import { unitsOf } from '../../units.ts'

const NOW = '2026-07-15T12:00:00.000Z'
const DAY_MS = 86_400_000
const TODAY = Math.floor(Date.parse(NOW) / DAY_MS)

/** A movement some days ago, out of the account if the amount is negative. */
type Movement = readonly [daysAgo: number, amount: number, over?: Partial<TransactionFact>]

let ids = 0

/** The transactions of an account, oldest first, each with the balance after it; without an opening balance none reports one. */
function account(
  key: string | undefined,
  opening: number | undefined,
  movements: readonly Movement[],
): TransactionFact[] {
  let balance = opening ?? 0
  return movements
    .toSorted(([a], [b]) => b - a)
    .map(([daysAgo, amount, over]) => {
      balance += amount
      return {
        ...(key !== undefined && { account: key }),
        occurredAt: new Date(Date.parse(NOW) - daysAgo * DAY_MS).toISOString(),
        externalId: `tx-${ids++}`,
        amount: Math.abs(amount),
        currency: 'EUR',
        direction: amount > 0 ? 'credit' : 'debit',
        ...(opening !== undefined && { balanceAfter: balance }),
        ...over,
      }
    })
}

/** The same movement every so many days, from some days ago until some days ago. */
function every(
  days: number,
  amount: number,
  { from = 360, to = 1, ...over }: { from?: number; to?: number } & Partial<TransactionFact> = {},
): Movement[] {
  return Array.from(
    { length: Math.floor((from - to) / days) + 1 },
    (_, index) => [from - index * days, amount, over] as const,
  )
}

const SPENDING = every(10, -400, { from: 351 })
const SALARY = every(30, 2000, { from: 355, counterparty: 'Acme' })

function factsOf(facts: CashflowFacts, currency = 'EUR'): (name: string) => unknown {
  const state = applyCashflow(emptyState(), facts)
  const request = { product: 'default', requestedAmount: 1000, currency }
  const { features } = deriveFacts({ state, entity: {}, request, now: NOW })
  return (name) => read(features[`cashflow.${name}`]!)
}

function read(fact: Fact) {
  return 'value' in fact ? fact.value : fact.missing
}

function allFacts(facts: CashflowFacts) {
  const state = applyCashflow(emptyState(), facts)
  const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
  return deriveFacts({ state, entity: {}, request, now: NOW }).features
}

const kindOf = (key: string, kind: AccountKind, holders?: number) => ({
  accounts: { [key]: { kind, ...(holders !== undefined && { holders }) } },
})

describe('an account that is alone', () => {
  const movements = [
    ...SALARY,
    ...SPENDING,
    ...every(7, -33, { to: 3 }),
    ...every(90, -500, { category: 'own_transfer' }),
  ]

  it('has the same facts whether it has a name or not', () => {
    const named = { transactions: account('a', 3000, movements) }
    const unnamed = { transactions: account(undefined, 3000, movements) }
    assert.deepEqual(allFacts(named), allFacts(unnamed))
    assert.deepEqual(allFacts({ ...named, ...kindOf('a', 'current') }), allFacts(unnamed))
  })

  it('has the same facts with a second one that never held anything and was used once', () => {
    const second = account('b', 0, [
      [200, 0.01],
      [200, -0.01],
    ])
    const one = factsOf({ transactions: account('a', 3000, movements) })
    const two = factsOf({ transactions: [...account('a', 3000, movements), ...second] })
    for (const name of ['reserve', 'lowest_balance', 'last_balance', 'recurring_income', 'monthly_spending'])
      assert.equal(two(name), one(name), name)
  })
})

describe('current and savings accounts', () => {
  const current = account('current', 500, [...SALARY, ...SPENDING])

  it('have their lowest balance and reserve together, day by day', () => {
    const savings = account('savings', 10_000, every(60, 5))
    const [alone, together] = [factsOf({ transactions: current }), factsOf({ transactions: [...current, ...savings] })]
    // 10,000 and the interest up to then lie beside every balance of the current account.
    for (const name of ['lowest_balance', 'reserve', 'average_balance']) {
      const more = Number(together(name)) - Number(alone(name))
      assert.ok(more >= 10_005 && more <= 10_035, `${name} ${more}`)
    }
    assert.equal(together('last_balance'), Number(alone('last_balance')) + 10_030)
  })

  it('count a balance for a hundred days after it was last known', () => {
    const reserveWith = (lastAgo: number) => {
      const parked = account('savings', 0, [[lastAgo, 10_000]])
      const debit = account('current', 1000, [
        [300, -1],
        [200, -1],
        [5, -100],
      ])
      return factsOf({ transactions: [...debit, ...parked] })('lowest_balance')
    }
    assert.deepEqual([reserveWith(105), reserveWith(106)], [10_898, 898])
  })

  it('count nothing before the first balance that is known', () => {
    const late = account('savings', 10_000, [[20, 5]])
    assert.equal(
      factsOf({ transactions: [...current, ...late] })('lowest_balance'),
      factsOf({ transactions: current })('lowest_balance'),
    )
  })

  it('are overdrawn each for itself', () => {
    const overdrawn = account('other', 50, [
      [40, -60],
      [39, 100],
    ])
    const facts = factsOf({ transactions: [...account('current', 90_000, SPENDING), ...overdrawn] })
    assert.deepEqual([facts('overdrawn_days_90'), facts('deepest_overdraft')], [1, 10])
    assert.ok(Number(facts('lowest_balance')) > 0)
  })

  it('reconcile each for itself', () => {
    const transactions = [...account('a', 5000, SPENDING), ...account('b', 70_000, every(10, -40, { from: 356 }))]
    assert.equal(factsOf({ transactions })('balances_reconciled'), 1)
    const mixed = transactions.map(({ account: _, ...one }) => one)
    assert.ok(Number(factsOf({ transactions: mixed })('balances_reconciled')) < 0.5)
  })
})

describe('a transfer between two accounts', () => {
  const moved = (out: Movement[], into: Movement[], more: CashflowFacts = {}) =>
    factsOf({
      ...more,
      transactions: [
        ...account('a', 9000, [...SALARY, ...SPENDING, ...out]),
        ...account('b', 2000, [...every(25, -10), ...into]),
      ],
    })
  const without = moved([], [])

  it('is neither income nor spending, up to three days apart, in either order', () => {
    for (const apart of [-3, -1, 0, 2, 3]) {
      const facts = moved([[100, -777]], [[100 + apart, 777]])
      for (const name of ['other_income', 'monthly_spending', 'circular_share'])
        assert.equal(facts(name), without(name), name)
    }
    for (const apart of [-4, 4]) {
      const facts = moved([[100, -777]], [[100 + apart, 776]])
      assert.ok(Number(facts('other_income')) > Number(without('other_income')))
      assert.ok(Number(facts('monthly_spending')) > Number(without('monthly_spending')))
    }
  })

  it('needs both legs, in two accounts: one leg alone stays spending', () => {
    assert.ok(Number(moved([[100, -777]], [])('monthly_spending')) > Number(without('monthly_spending')))
    assert.ok(Number(moved([[100, -777]], [[100, 778]])('monthly_spending')) > Number(without('monthly_spending')))
  })

  it('is found if only one leg is tagged', () => {
    const facts = moved([[100, -777]], [[99, 777, { category: 'own_transfer' }]])
    assert.equal(facts('monthly_spending'), without('monthly_spending'))
  })

  it('takes each leg once', () => {
    const twice = moved(
      [
        [100, -777],
        [100, -777],
      ],
      [[100, 777]],
    )
    const once = moved([[100, -777]], [])
    assert.equal(twice('monthly_spending'), once('monthly_spending'))
  })

  it('is found on a busy day', () => {
    const busy: Movement[] = Array.from({ length: 8 }, (_, index) => [100, -(900 + index)] as const)
    const [facts, rest] = [moved([...busy, [100, -50]], [[100, 50]]), moved(busy, [])]
    assert.equal(facts('monthly_spending'), rest('monthly_spending'))
  })

  it('to a loan on file is its repayment and spending, however it is tagged', () => {
    const payments = (over: Partial<TransactionFact>): Movement[] =>
      [80, 50, 20].map((ago) => [ago, -300, over] as const)
    const loan = account('loan', -5000, [
      [80, 300],
      [50, 300],
      [20, 300],
    ])
    const accounts = { loan: { kind: 'loan' } } as const
    const withLoan = (over: Partial<TransactionFact>) =>
      factsOf({
        accounts,
        transactions: [...account('a', 9000, [...SALARY, ...SPENDING, ...payments(over)]), ...loan],
      })
    const repaidOnly = (over: Partial<TransactionFact>) => {
      const facts = factsOf({ accounts, transactions: [...account('a', 9000, payments(over)), ...loan] })
      return [facts('monthly_debt_service'), facts('monthly_spending')]
    }
    for (const over of [{}, { category: 'loan_repayment' }, { category: 'own_transfer' }]) {
      const facts = withLoan(over)
      assert.equal(facts('monthly_debt_service'), 300, JSON.stringify(over))
      assert.equal(facts('owed'), 4100)
      assert.equal(facts('monthly_spending'), withLoan({})('monthly_spending'), JSON.stringify(over))
      const [debtService, spending] = repaidOnly(over)
      assert.deepEqual([debtService, spending], repaidOnly({}), JSON.stringify(over))
      assert.equal(spending, 0)
      const alone = moved(payments(over), [], { accounts })
      assert.equal(alone('monthly_debt_service'), over.category === 'loan_repayment' ? 300 : 0)
    }
  })

  it('of a loan repayment to an account that holds money is no transfer', () => {
    const facts = moved([[20, -300, { category: 'loan_repayment' }]], [[20, 300]])
    assert.ok(Number(facts('monthly_debt_service')) > 0)
  })
})

describe('a card', () => {
  const purchases: Movement[] = every(30, -600, { from: 350 })
  const payments: Movement[] = every(30, 600, { from: 345 })
  const card = account('card', 0, [...purchases, ...payments])
  const current = account('a', 9000, [...SALARY, ...every(30, -600, { from: 345, category: 'LOAN_PAYMENTS' })])
  const terms = kindOf('card', 'card')

  it('counts by its purchases, and what pays for them is neither spending nor debt service nor income', () => {
    const facts = factsOf({ transactions: [...current, ...card], ...terms })
    const spent = Number(factsOf({ transactions: account('a', 9000, [...SALARY, ...purchases]) })('monthly_spending'))
    assert.equal(facts('monthly_spending'), spent)
    assert.equal(facts('monthly_debt_service'), 0)
    assert.equal(facts('other_income'), 0)
  })

  it('is no reserve and never overdrawn, and its balance is owed', () => {
    const open = account('card', -2000, [...purchases, ...payments, [1, -55]])
    const facts = factsOf({ transactions: [...current, ...open], ...terms })
    assert.ok(Number(facts('lowest_balance')) > 8000)
    assert.equal(facts('overdrawn_days_365'), 0)
    assert.equal(facts('owed'), 2055)
    assert.equal(factsOf({ transactions: current })('owed'), 'no_data')
    const paidAhead = account('card', 100, [[5, -20]])
    assert.equal(factsOf({ transactions: [...current, ...paidAhead], ...terms })('owed'), 0)
  })

  it('has balances that are checked like those of other accounts', () => {
    const forged = card.map((one, index) => (index === 7 ? { ...one, balanceAfter: 99_999 } : one))
    const facts = factsOf({ transactions: [...current, ...forged], ...terms })
    assert.ok(Number(facts('balances_reconciled')) < 1)
  })

  it('pays nothing if it is the only account: its credits are no income', () => {
    const facts = factsOf({ transactions: card, ...terms })
    assert.deepEqual([facts('monthly_income'), facts('reserve')], [0, 'no_data'])
  })
})

describe('a joint account', () => {
  const joint = (holders: number) =>
    factsOf({ transactions: account('j', 6000, [...SALARY, ...SPENDING]), ...kindOf('j', 'current', holders) })

  it('counts by its holders', () => {
    const [one, two] = [joint(1), joint(2)]
    const names = [
      'monthly_income',
      'recurring_income',
      'monthly_spending',
      'reserve',
      'lowest_balance',
      'last_balance',
    ]
    for (const name of names) assert.ok(Math.abs(Number(two(name)) - Number(one(name)) / 2) < 0.01, name)
    assert.deepEqual([two('days_observed'), two('outflow_to_income')], [one('days_observed'), one('outflow_to_income')])
  })

  it('counts as what was said of it last', () => {
    const state = applyCashflow(emptyState(), { transactions: account('j', 6000, [...SALARY, ...SPENDING]) })
    const later = applyCashflow(state, { accounts: { j: { holders: 2 } } })
    const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
    const { features } = deriveFacts({ state: later, entity: {}, request, now: NOW })
    assert.equal(read(features['cashflow.recurring_income']!), joint(2)('recurring_income'))
    assert.deepEqual(applyCashflow(later, { accounts: { j: { kind: 'savings' } } }).cashflow.accounts, {
      j: { holders: 2, kind: 'savings' },
    })
  })
})

describe('the balances of statements', () => {
  const movements = [...SALARY, ...SPENDING]
  const silent = account('a', undefined, movements)
  const reporting = factsOf({ transactions: account('a', 3000, movements) })
  const at = (daysAgo: number, kind: 'opening' | 'closing', major: number) =>
    ({ account: 'a', currency: 'EUR', day: TODAY - daysAgo, kind, units: unitsOf(BigInt(major) * 10_000n) }) as const
  const balanceOn = (daysAgo: number, { isAfter }: { isAfter: boolean }) =>
    movements.reduce((sum, [ago, amount]) => (ago > daysAgo || (isAfter && ago === daysAgo) ? sum + amount : sum), 3000)

  it('of daily statements reconcile if each opening is dated by the first entry, and not by the closing before it', () => {
    const daily = every(1, -10, { from: 120 })
    const reconciled = (openedEarlier: number) => {
      const balances = daily.flatMap(([daysAgo], index) => [
        at(daysAgo + openedEarlier, 'opening', 5000 - 10 * index),
        at(daysAgo, 'closing', 4990 - 10 * index),
      ])
      return factsOf({ transactions: account('a', undefined, daily), balances })('balances_reconciled')
    }
    assert.equal(reconciled(0), 1)
    assert.ok(Number(reconciled(1)) < 0.5, String(reconciled(1)))
  })

  it('give the balances that no transaction reports', () => {
    assert.equal(factsOf({ transactions: silent })('reserve'), 'no_data')
    for (const balances of [
      [at(360, 'opening', 3000)],
      [at(0, 'closing', balanceOn(0, { isAfter: true }))],
      [at(100, 'closing', balanceOn(100, { isAfter: true }))],
      [at(151, 'opening', balanceOn(151, { isAfter: false })), at(1, 'closing', balanceOn(1, { isAfter: true }))],
    ]) {
      const facts = factsOf({ transactions: silent, balances })
      for (const name of ['reserve', 'lowest_balance', 'last_balance', 'overdrawn_days_365', 'debits_with_balance'])
        assert.equal(facts(name), reporting(name), `${name} ${JSON.stringify(balances)}`)
    }
  })

  it('have to follow from each other by the transactions in between', () => {
    const statements = [330, 300, 270, 240].flatMap((ago) => [
      at(ago, 'opening', balanceOn(ago, { isAfter: false })),
      at(ago - 29, 'closing', balanceOn(ago - 29, { isAfter: true })),
    ])
    assert.equal(factsOf({ transactions: silent, balances: statements })('balances_reconciled'), 1)
    const hidden = silent.filter((_, index) => index !== 7)
    assert.equal(factsOf({ transactions: hidden, balances: statements })('balances_reconciled'), 0.857142)
    assert.equal(factsOf({ transactions: silent, balances: statements.slice(0, 1) })('balances_reconciled'), 'no_data')
  })

  it('may stand alone: what savings hold counts without a transaction', () => {
    const current = account('c', 500, movements)
    const savings = [200, 110, 20].map((ago) => ({ ...at(ago, 'closing', 8000), account: 's' }))
    const [alone, both] = [factsOf({ transactions: current }), factsOf({ transactions: current, balances: savings })]
    assert.equal(both('lowest_balance'), Number(alone('lowest_balance')) + 8000)
    assert.equal(both('last_balance'), Number(alone('last_balance')) + 8000)
  })

  it('replace the one of the same day and kind that came before', () => {
    const facts = factsOf({ transactions: silent, balances: [at(0, 'closing', 7), at(0, 'closing', 5000)] })
    assert.equal(facts('last_balance'), 5000)
  })
})
