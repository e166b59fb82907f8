import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TransactionFact } from '../cashflow/transaction-fact.ts'
import { deriveFacts } from '../derive-facts.ts'
import {
  applyConsent,
  applyIdentityLink,
  applyOutcome,
  applyTransactions,
  type EntityState,
  emptyState,
  type OutcomeFact,
} from '../entity-state.ts'
import { combineStates } from './combine-states.ts'

const START = Date.UTC(2025, 0, 1)
const DAY_MS = 86_400_000
const instantOf = (day: number) => new Date(START + day * DAY_MS).toISOString()
const NOW = instantOf(120)

describe('merged entities', () => {
  const at = (day: number, over: Partial<TransactionFact>): TransactionFact => ({
    externalId: `${day} ${over.amount}`,
    occurredAt: instantOf(day),
    amount: 10,
    currency: 'EUR',
    direction: 'debit',
    ...over,
  })
  const spending = (account?: string) =>
    Array.from({ length: 50 }, (_, index) => at(2 * index, { amount: 10, ...(account && { account }) }))
  const stateOf = (...lists: TransactionFact[][]) => applyTransactions(emptyState(), lists.flat())
  const featuresOf = (...states: EntityState[]) =>
    deriveFacts({
      state: combineStates(states),
      entity: {},
      request: { product: 'loan', requestedAmount: 1_000, currency: 'EUR' },
      now: NOW,
    }).features
  const salary = (account?: string) =>
    [5, 35, 65, 95].map((day) =>
      at(day, { amount: 2_000, direction: 'credit', counterparty: 'Acme', ...(account && { account }) }),
    )

  it('have the income of one account once, however many of them report it', () => {
    const [whole, part] = [stateOf(spending('a'), salary('a')), stateOf(spending('a').slice(9), salary('a').slice(1))]
    assert.deepEqual(featuresOf(whole, part), featuresOf(whole))
    assert.deepEqual(
      featuresOf(stateOf(spending(), salary()), stateOf(spending(), salary())),
      featuresOf(stateOf(spending(), salary())),
    )
  })

  it('have the income of one account once, if only one of them names it, or one day was corrected in only one of them', () => {
    const reports = [stateOf(spending(), salary()), stateOf(spending('a'), salary('a'))] as const
    const whole = featuresOf(reports[1])
    for (const name of ['cashflow.recurring_income', 'cashflow.monthly_income', 'cashflow.monthly_spending'])
      assert.deepEqual(featuresOf(...reports)[name], whole[name], name)
    const corrected = stateOf([at(0, { amount: 11 })], spending().slice(1), salary())
    assert.deepEqual(featuresOf(reports[0], corrected)['cashflow.recurring_income'], whole['cashflow.recurring_income'])
  })

  it('keep an account that agrees with none of the others for itself', () => {
    const wage = [5, 35, 65, 95].map((day) => at(day, { amount: 1_500, direction: 'credit', counterparty: 'Zenith' }))
    const small = spending().map((one) => ({ ...one, amount: 13 }))
    const apart = stateOf(small, wage)
    const twice = featuresOf(stateOf(spending(), salary()), apart, stateOf(spending(), salary()))
    const all = featuresOf(
      stateOf(
        spending('a'),
        salary('a'),
        [...small, ...wage].map((one) => ({ ...one, account: 'b' })),
      ),
    )
    assert.deepEqual(twice, all)
  })

  it('have the lower balance where reports of one account contradict each other, and balances that do not add up', () => {
    const debits = (balance: number, amount: number) =>
      Array.from({ length: 40 }, (_, index) =>
        at(2 * index, { account: 'a', amount, balanceAfter: balance - amount * (index + 1) }),
      )
    const [rich, poor] = [stateOf(debits(9_000, 10)), stateOf(debits(500, 12))]
    const features = featuresOf(rich, poor)
    assert.deepEqual(features['cashflow.lowest_balance'], featuresOf(poor)['cashflow.lowest_balance'])
    assert.deepEqual(features['cashflow.reserve'], featuresOf(poor)['cashflow.reserve'])
    assert.deepEqual(features['cashflow.balances_reconciled'], { value: 0, age_days: 42 })
  })

  it('have an overdraft that only the shorter report of a day shows', () => {
    const day = (index: number, over: Partial<TransactionFact>) => at(2 * index, { account: 'a', ...over })
    const whole = Array.from({ length: 30 }, (_, index) => [day(index, { amount: 10 }), day(index, { amount: 20 })])
    const part = Array.from({ length: 30 }, (_, index) => day(index, { amount: 10, balanceAfter: -10 * index - 1 }))
    const { 'cashflow.overdrawn_days_365': overdrawn } = featuresOf(stateOf(...whole), stateOf(part))
    assert.deepEqual(overdrawn, { value: 30, age_days: 62 })
  })

  it('have the income of all their accounts', () => {
    const income = (...states: EntityState[]) =>
      (featuresOf(...states)['cashflow.recurring_income'] as { value: number }).value
    const wage = [12, 42, 72, 102].map((day) =>
      at(day, { amount: 1_500, direction: 'credit', counterparty: 'Zenith', account: 'b' }),
    )
    const [one, other] = [stateOf(spending('a'), salary('a')), stateOf(spending('b'), wage)]
    assert.ok(income(one) > 0 && income(other) > 0)
    assert.equal(income(one, other), income(stateOf(spending('a'), salary('a'), spending('b'), wage)))
    assert.ok(income(one, other) > 1.5 * income(one))
  })

  it('have the debits in other currencies of all of them', () => {
    const dollars = stateOf(spending('b').map((debit) => ({ ...debit, currency: 'USD' })))
    const share = (...states: EntityState[]) => featuresOf(...states)['cashflow.debits_in_other_currencies']
    assert.deepEqual(share(stateOf(spending('a')), dollars), { value: 0.5 })
    assert.deepEqual(share(stateOf(spending('a'), spending('c')), dollars), { value: 0.333333 })
  })

  it('earn and spend nothing by transfers from one to the other', () => {
    const out = [15, 45].map((day) => at(day, { amount: 700, account: 'a' }))
    const into = [16, 46].map((day) => at(day, { amount: 700, account: 'b', direction: 'credit' }))
    const features = featuresOf(stateOf(spending('a'), salary('a'), out), stateOf(spending('b'), into))
    const without = featuresOf(stateOf(spending('a'), salary('a')), stateOf(spending('b')))
    for (const name of ['cashflow.monthly_income', 'cashflow.monthly_spending', 'cashflow.circular_share'])
      assert.deepEqual(features[name], without[name], name)
  })

  it('owe what each of them owes, and have the longest delay of any', () => {
    const loan = (id: string, amount: number, daysPastDue: number) =>
      [
        { id: `${id}1`, type: 'funded', amount, currency: 'EUR' } as const,
        { id: `${id}2`, type: 'late', daysPastDue } as const,
      ].reduce(
        ({ state: of, earlier }, report) => {
          const fact: OutcomeFact = { decisionId: id, occurredAt: instantOf(earlier.length), ...report }
          return { state: applyOutcome(of, fact, { earlier }), earlier: [...earlier, fact] }
        },
        { state: emptyState(), earlier: [] as OutcomeFact[] },
      ).state
    const features = featuresOf(loan('x', 300, 5), loan('y', 1_200, 3))
    assert.deepEqual(features['history.outstanding'], { value: 1_500 })
    assert.deepEqual(features['history.late'], { value: 2 })
    assert.deepEqual(features['history.worst_days_past_due'], { value: 5 })
  })

  it('have repaid the largest of their credits, and defaulted when the last of them did', () => {
    const reported = (id: string, ...reports: [type: OutcomeFact['type'], day: number, amount?: number][]) =>
      reports.reduce(
        ({ state: of, earlier }, [type, day, amount]) => {
          const fact: OutcomeFact = {
            id: `${id}${earlier.length}`,
            decisionId: id,
            type,
            occurredAt: instantOf(day),
            ...(amount !== undefined && { amount, currency: 'EUR' }),
          }
          return { state: applyOutcome(of, fact, { earlier }), earlier: [...earlier, fact] }
        },
        { state: emptyState(), earlier: [] as OutcomeFact[] },
      ).state
    const states = [
      reported('x', ['funded', 1, 300], ['default', 30], ['repaid', 60]),
      reported('y', ['funded', 2, 1_200], ['repaid', 50]),
      reported('z', ['funded', 3, 70], ['charged_off', 90]),
      emptyState(),
    ]
    for (const order of [states, states.toReversed()]) {
      const features = featuresOf(...order)
      assert.deepEqual(features['history.largest_repaid'], { value: 1_200 })
      assert.deepEqual(features['history.days_since_default'], { value: 30 })
    }
    assert.deepEqual(featuresOf(emptyState(), states[1]!)['history.days_since_default'], { value: 3650 })
  })

  it('have revoked what one of them revoked, also before another granted it', () => {
    const consented = (...consents: ['granted' | 'revoked', day: number][]) =>
      consents.reduce(
        (of, [status, day]) =>
          applyConsent(of, { purpose: 'credit_underwriting', status, dataCategories: [], grantedAt: instantOf(day) }),
        emptyState(),
      )
    const statusOf = (...states: EntityState[]) => featuresOf(...states)['consent.credit_underwriting']
    const [revoked, granted] = [consented(['granted', 1], ['revoked', 2]), consented(['granted', 3])]
    assert.deepEqual(statusOf(revoked, granted), { value: 'revoked' })
    assert.deepEqual(statusOf(consented(['granted', 1], ['revoked', 2], ['granted', 3]), granted), { value: 'granted' })
  })

  it('have the later of two grants, though it has expired and the earlier one has not', () => {
    const granted = (day: number, until: number) =>
      applyConsent(emptyState(), {
        purpose: 'credit_underwriting',
        status: 'granted',
        dataCategories: [],
        grantedAt: instantOf(day),
        expiresAt: instantOf(until),
      })
    const statusOf = (...states: EntityState[]) => featuresOf(...states)['consent.credit_underwriting']
    assert.deepEqual(statusOf(granted(1, 900)), { value: 'granted' })
    assert.deepEqual(statusOf(granted(1, 900), granted(2, 3)), { value: 'expired' })
    assert.deepEqual(statusOf(granted(1, 3), granted(2, 900)), { value: 'granted' })
  })

  it('show two tax numbers as the conflict that they are', () => {
    const verified = (digit: string) =>
      applyIdentityLink(emptyState(), {
        identifier: { type: 'tax_id', hash: digit.repeat(16) },
        verification: { status: 'verified' },
        createdAt: instantOf(1),
      })
    assert.deepEqual(featuresOf(verified('1'), verified('2'))['identity.conflicts'], { value: 1 })
    assert.deepEqual(featuresOf(verified('1'), verified('1'))['identity.conflicts'], { value: 0 })
  })
})
