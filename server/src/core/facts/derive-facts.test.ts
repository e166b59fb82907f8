import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canonicalJson, orderedJson } from '../canonical-json.ts'
import { deriveFacts } from './derive-facts.ts'
import {
  applyConsent,
  applyFeatureSnapshot,
  applyIdentityLink,
  applyTransactions,
  type ConsentFact,
  type EntityState,
  emptyState,
  type TransactionFact,
} from './entity-state.ts'
import type { Fact } from './facts.ts'
import { FEATURE_CATALOGUE, featureNames } from './feature-catalogue.ts'

const NOW = '2026-07-15T12:00:00.000Z'

function featureOf(state: EntityState, name: string, { now = NOW, currency = 'EUR' } = {}): Fact | undefined {
  const request = { product: 'default', requestedAmount: 1000, currency }
  return deriveFacts({ state, entity: { type: 'person', country: null }, request, now }).features[name]
}

/** One credit and one debit in each month, oldest first, ending with the month before `NOW`. */
function monthly(inflows: number[], { outflow = 10, firstMonth = 6 - inflows.length } = {}): TransactionFact[] {
  return inflows.flatMap((amount, index): TransactionFact[] => {
    const at = (day: number) => new Date(Date.UTC(2026, firstMonth + index, day)).toISOString()
    const shared = { currency: 'EUR', balanceAfter: 100 + index }
    const spent = { ...shared, balanceAfter: 90 + index }
    return [
      { ...shared, occurredAt: at(2), externalId: `in-${index}`, amount, direction: 'credit' },
      { ...spent, occurredAt: at(20), externalId: `out-${index}`, amount: outflow, direction: 'debit' },
    ]
  })
}

const withMonths = (inflows: number[]) => applyTransactions(emptyState(), monthly(inflows))
const consent = (over: Partial<ConsentFact>): ConsentFact => ({
  purpose: 'credit_underwriting',
  status: 'granted',
  dataCategories: [],
  grantedAt: '2026-01-01T00:00:00.000Z',
  ...over,
})

describe('cash-flow facts', () => {
  it('take income from full months only, not from the first or the current month', () => {
    const running: TransactionFact = {
      occurredAt: '2026-07-02T00:00:00.000Z',
      externalId: 'running',
      amount: 99_999,
      currency: 'EUR',
      direction: 'credit',
    }
    const state = applyTransactions(withMonths([1, 300, 100, 200]), [running])
    assert.deepEqual(featureOf(state, 'cashflow.months_observed'), { value: 3, age_days: 25 })
    assert.deepEqual(featureOf(state, 'cashflow.median_inflow'), { value: 200, age_days: 25 })
  })

  it('are as old as the last debit: a credit does not prove that the account was observed', () => {
    const credit = (occurredAt: string): TransactionFact => ({
      occurredAt,
      externalId: occurredAt,
      amount: 1,
      currency: 'EUR',
      direction: 'credit',
    })
    const state = withMonths([1, 300, 100, 200])
    const further = applyTransactions(state, [credit('2025-09-05T00:00:00.000Z'), credit('2026-07-14T00:00:00.000Z')])
    for (const name of ['cashflow.months_observed', 'cashflow.median_inflow', 'cashflow.lowest_inflow_to_outflow'])
      assert.deepEqual(featureOf(further, name), featureOf(state, name), name)
    const oneDebit: TransactionFact = { ...credit('2026-05-05T00:00:00.000Z'), externalId: 'debit', direction: 'debit' }
    const salaries = Array.from({ length: 8 }, (_, month) => credit(`2025-1${month % 3}-05T00:00:00.000Z`))
    const hardlyUsed = applyTransactions(emptyState(), [...salaries, oneDebit, credit('2026-06-25T00:00:00.000Z')])
    assert.deepEqual(featureOf(hardlyUsed, 'cashflow.months_observed'), { value: 8, age_days: 20 })
    const onlyCredits = applyTransactions(emptyState(), [
      credit('2026-03-05T00:00:00.000Z'),
      credit('2026-06-25T00:00:00.000Z'),
    ])
    assert.deepEqual(featureOf(onlyCredits, 'cashflow.months_observed'), { value: 3, age_days: 20 })
    assert.deepEqual(featureOf(onlyCredits, 'cashflow.lowest_inflow_to_outflow'), { missing: 'no_data' })
  })

  it('do not count months after the last transaction as months without income', () => {
    const state = withMonths([500, 500, 500, 500])
    const later = featureOf(state, 'cashflow.median_inflow', { now: '2026-12-20T00:00:00.000Z' })
    assert.deepEqual(later, { value: 500, age_days: 183 })
  })

  it('count a month without transactions between two others as a month without income', () => {
    const all = monthly([100, 400, 400, 400, 400])
    const state = applyTransactions(
      emptyState(),
      all.filter(({ occurredAt }) => !occurredAt.startsWith('2026-04')),
    )
    assert.deepEqual(featureOf(state, 'cashflow.months_observed'), { value: 4, age_days: 25 })
    assert.ok((featureOf(state, 'cashflow.inflow_variation') as { value: number }).value > 0.5)
  })

  it('are missing in a currency without transactions, never converted and never zero', () => {
    const seenInAny = ['cashflow.negative_days', 'cashflow.returned_payments']
    for (const name of featureNames('cashflow.').filter((name) => !seenInAny.includes(name))) {
      const fact = featureOf(withMonths([500, 500, 500]), name, { currency: 'USD' })
      assert.deepEqual(fact, { missing: 'other_currency' }, name)
      assert.deepEqual(featureOf(emptyState(), name), { missing: 'no_data' }, name)
    }
  })

  it('count overdrafts and returned payments in every currency, and a day below zero in two currencies once', () => {
    const overdrawn = (currency: string, day: number): TransactionFact => ({
      occurredAt: `2026-06-0${day}T09:00:00.000Z`,
      externalId: `${currency}-${day}`,
      amount: 5,
      currency,
      direction: 'debit',
      balanceAfter: -5,
      category: 'returned_payment',
    })
    const all = [overdrawn('EUR', 1), overdrawn('CZK', 1), overdrawn('CZK', 2)]
    const state = applyTransactions(emptyState(), all)
    for (const currency of ['EUR', 'CZK', 'USD']) {
      assert.deepEqual(featureOf(state, 'cashflow.negative_days', { currency }), { value: 2, age_days: 43 })
      assert.deepEqual(featureOf(state, 'cashflow.returned_payments', { currency }), { value: 3, age_days: 43 })
    }
  })

  it('count a returned payment that comes as a credit after the last debit, and an overdraft that only credits show', () => {
    const returned = (day: number): TransactionFact => ({
      occurredAt: `2026-07-0${day}T00:00:00.000Z`,
      externalId: `returned-${day}`,
      amount: 50,
      currency: 'EUR',
      direction: 'credit',
      category: 'returned_payment',
    })
    const state = applyTransactions(withMonths([1, 300, 100, 200]), [returned(2), returned(5), returned(8)])
    assert.deepEqual(featureOf(state, 'cashflow.returned_payments'), { value: 3, age_days: 7 })
    const overdrawn = { ...returned(3), category: 'salary', balanceAfter: -900 }
    assert.deepEqual(featureOf(applyTransactions(emptyState(), [overdrawn]), 'cashflow.negative_days'), {
      value: 1,
      age_days: 12,
    })
  })

  it('do not count the last month as full if its second half was not observed', () => {
    const all = monthly([100, 400, 400, 400])
    const cutOff = all.map((fact) => ({ ...fact, occurredAt: fact.occurredAt.replace('06-20', '06-05') }))
    const full = featureOf(applyTransactions(emptyState(), all), 'cashflow.months_observed')
    assert.deepEqual(full, { value: 3, age_days: 25 })
    const half = featureOf(applyTransactions(emptyState(), cutOff), 'cashflow.months_observed')
    assert.deepEqual(half, { value: 2, age_days: 40 })
  })

  it('compare the income of the leanest month with the outflow of an average month', () => {
    const state = applyTransactions(emptyState(), monthly([100, 400, 90, 400], { outflow: 90 }))
    assert.deepEqual(featureOf(state, 'cashflow.lowest_inflow_to_outflow'), { value: 1, age_days: 25 })
    assert.deepEqual(featureOf(withMonths([400]), 'cashflow.lowest_inflow_to_outflow'), { missing: 'too_short' })
  })

  it('count low balances after debits only, not after a large credit on a small balance', () => {
    const state = withMonths([500, 500, 500])
    assert.deepEqual(featureOf(state, 'cashflow.low_balance_share'), { value: 0, age_days: 25 })
    const spent = applyTransactions(emptyState(), monthly([500, 500, 500], { outflow: 90 }))
    assert.deepEqual(featureOf(spent, 'cashflow.low_balance_share'), { value: 1, age_days: 25 })
  })

  it('are missing, not zero, if newer transactions in another currency moved the window on', () => {
    const later: TransactionFact = {
      occurredAt: '2027-12-02T00:00:00.000Z',
      externalId: 'later',
      amount: 5,
      currency: 'USD',
      direction: 'credit',
    }
    const state = applyTransactions(withMonths([500, 500, 500]), [later])
    const now = '2027-12-03T00:00:00.000Z'
    assert.deepEqual(featureOf(state, 'cashflow.median_inflow', { now }), { missing: 'other_currency' })
    const partly = applyTransactions(withMonths([500, 500, 500]), [
      { ...later, occurredAt: '2027-05-02T00:00:00.000Z' },
    ])
    const months = featureOf(partly, 'cashflow.months_observed', { now: '2027-05-03T00:00:00.000Z' })
    assert.deepEqual(months, { value: 2, age_days: 317 })
  })

  it('have no ratio of spending to income if the account has neither', () => {
    const moved = monthly([500, 500, 500]).map((transaction) => ({ ...transaction, category: 'own_transfer' }))
    const state = applyTransactions(emptyState(), moved)
    assert.deepEqual(featureOf(state, 'cashflow.outflow_to_inflow'), { missing: 'no_data' })
    assert.deepEqual(featureOf(state, 'cashflow.median_inflow'), { value: 0, age_days: 25 })
  })

  it('are those of the most used currency if the request names none', () => {
    const request = { product: 'default' }
    const { features } = deriveFacts({ state: withMonths([500, 500, 500]), entity: {}, request, now: NOW })
    assert.deepEqual(features['cashflow.median_inflow'], { value: 500, age_days: 25 })
  })

  it('have no balances if no transaction reports one', () => {
    const bare = monthly([500, 500, 500]).map(({ balanceAfter: _, ...transaction }) => transaction)
    const state = applyTransactions(emptyState(), bare)
    assert.deepEqual(featureOf(state, 'cashflow.lowest_balance'), { missing: 'no_data' })
    assert.deepEqual(featureOf(state, 'cashflow.negative_days'), { missing: 'no_data' })
    assert.deepEqual(featureOf(state, 'cashflow.median_inflow'), { value: 500, age_days: 25 })
  })

  it('include the lowest, the average and the last balance', () => {
    const state = withMonths([500, 500, 500])
    assert.deepEqual(featureOf(state, 'cashflow.lowest_balance'), { value: 90, age_days: 25 })
    assert.deepEqual(featureOf(state, 'cashflow.average_balance'), { value: 96, age_days: 25 })
    assert.deepEqual(featureOf(state, 'cashflow.last_balance'), { value: 92, age_days: 25 })
  })

  it('are too short within the first month', () => {
    assert.deepEqual(featureOf(withMonths([500]), 'cashflow.median_inflow'), { missing: 'too_short' })
    assert.deepEqual(featureOf(withMonths([500]), 'cashflow.months_observed'), { value: 0, age_days: 25 })
  })

  it('count a day below zero once, however many balances it has', () => {
    const day = monthly([500, 500]).map((transaction, index) => ({
      ...transaction,
      externalId: `${index}`,
      occurredAt: index < 3 ? '2026-06-07T09:00:00.000Z' : '2026-06-30T09:00:00.000Z',
      balanceAfter: -5,
    }))
    assert.deepEqual(featureOf(applyTransactions(emptyState(), day), 'cashflow.negative_days'), {
      value: 2,
      age_days: 15,
    })
  })

  it('separate the repayment of loans from other spending', () => {
    const repayments = monthly([0.01, 500, 500], { outflow: 90 }).map((transaction) =>
      transaction.direction === 'debit' ? { ...transaction, category: 'loan_repayment' } : transaction,
    )
    const state = applyTransactions(emptyState(), repayments)
    assert.deepEqual(featureOf(state, 'cashflow.mean_debt_service'), { value: 90, age_days: 25 })
    assert.deepEqual(featureOf(state, 'cashflow.mean_spending'), { value: 0, age_days: 25 })
  })
})

describe('consent', () => {
  const state = withMonths([500, 500, 500])

  it('revoked makes the data it covers missing, never zero', () => {
    const revoked = applyConsent(state, consent({ status: 'revoked', revokedAt: '2026-07-01T00:00:00.000Z' }))
    for (const name of [...featureNames('cashflow.'), ...featureNames('graph.'), ...featureNames('identity.')]) {
      assert.deepEqual(featureOf(revoked, name), { missing: 'consent_revoked' }, name)
    }
    assert.deepEqual(featureOf(revoked, 'consent.credit_underwriting'), { value: 'revoked' })
  })

  it('revoked for one category of data does not affect the others', () => {
    const granted = applyConsent(state, consent({}))
    const partly = applyConsent(granted, consent({ status: 'revoked', dataCategories: ['graph'], revokedAt: NOW }))
    assert.deepEqual(featureOf(partly, 'graph.negative_exposure'), { missing: 'consent_revoked' })
    assert.deepEqual(featureOf(partly, 'cashflow.median_inflow'), { value: 500, age_days: 25 })
    assert.deepEqual(featureOf(partly, 'consent.credit_underwriting'), { value: 'granted' })
  })

  it('that expired withholds data from the instant of expiry', () => {
    const expiring = applyConsent(state, consent({ expiresAt: NOW }))
    const before = '2026-07-15T11:59:59.999Z'
    assert.deepEqual(featureOf(expiring, 'cashflow.median_inflow', { now: before }), { value: 500, age_days: 25 })
    assert.deepEqual(featureOf(expiring, 'cashflow.median_inflow'), { missing: 'consent_expired' })
  })

  it('granted again after a revocation counts, unless the revocation has the same instant', () => {
    const at = '2026-06-01T00:00:00.000Z'
    const revoked = applyConsent(state, consent({ status: 'revoked', revokedAt: at }))
    const again = applyConsent(revoked, consent({ grantedAt: '2026-06-01T00:00:00.001Z' }))
    assert.deepEqual(featureOf(again, 'consent.credit_underwriting'), { value: 'granted' })
    const sameInstant = applyConsent(revoked, consent({ grantedAt: at }))
    assert.deepEqual(featureOf(sameInstant, 'consent.credit_underwriting'), { value: 'revoked' })
  })

  it('revoked for identity data shows as revoked, whatever else is granted', () => {
    const granted = applyConsent(state, consent({}))
    const partly = applyConsent(granted, consent({ status: 'revoked', dataCategories: ['identity'], revokedAt: NOW }))
    assert.deepEqual(featureOf(granted, 'consent.identity_data'), { value: 'open' })
    assert.deepEqual(featureOf(partly, 'consent.identity_data'), { value: 'revoked' })
    assert.deepEqual(featureOf(partly, 'consent.credit_underwriting'), { value: 'granted' })
  })

  it('that was never recorded withholds nothing', () => {
    assert.deepEqual(featureOf(state, 'consent.credit_underwriting'), { value: 'none' })
    assert.deepEqual(featureOf(state, 'cashflow.median_inflow'), { value: 500, age_days: 25 })
  })

  it('to marketing does not affect a decision when it is revoked', () => {
    const revoked = applyConsent(state, consent({ purpose: 'marketing', status: 'revoked', revokedAt: NOW }))
    assert.deepEqual(featureOf(revoked, 'cashflow.median_inflow'), { value: 500, age_days: 25 })
  })
})

describe('facts', () => {
  it('have the caller’s features under snapshot, null as missing, and no inherited property', () => {
    const snapshot = { source: 'crm', asOf: '2026-07-05T12:00:00.000Z', features: { constructor: 3, gone: null } }
    const state = applyFeatureSnapshot(emptyState(), snapshot)
    assert.deepEqual(featureOf(state, 'snapshot.constructor'), { value: 3, age_days: 10 })
    assert.deepEqual(featureOf(state, 'snapshot.gone'), { missing: 'no_data' })
    assert.equal(featureOf(emptyState(), 'snapshot.constructor'), undefined)
  })

  it('are created in the order of their names, as orderedJson requires', () => {
    const snapshot = { source: 'crm', asOf: NOW, features: { b: 1, B: 2, 'a.b': null, 10: 3, 9: 4, ü: 5 } }
    const states = [
      emptyState(),
      withMonths([1, 300, 100, 200]),
      applyFeatureSnapshot(withMonths([1]), snapshot),
      applyConsent(
        applyFeatureSnapshot(withMonths([1, 2, 3]), snapshot),
        consent({ status: 'revoked', revokedAt: NOW }),
      ),
      applyIdentityLink(emptyState(), {
        identifier: { type: 'tax_id', hash: 'a' },
        verification: { status: 'verified' },
        createdAt: NOW,
      }),
    ]
    for (const state of states) {
      for (const request of [{ product: 'default' }, { product: 'default', requestedAmount: 1, currency: 'EUR' }]) {
        const facts = deriveFacts({ state, entity: { type: 'person', country: 'DE' }, request, now: NOW })
        assert.equal(orderedJson(facts), canonicalJson(facts))
      }
    }
  })

  it('have every feature of the catalogue that needs no policy, with the type of its definition', () => {
    const { features } = deriveFacts({
      state: withMonths([500, 500, 500]),
      entity: { type: 'person', country: 'DE' },
      request: { product: 'default', requestedAmount: 1, currency: 'EUR' },
      now: NOW,
    })
    for (const [name, { type, source }] of Object.entries(FEATURE_CATALOGUE)) {
      if (source.includes('policy')) continue
      const fact = features[name]
      assert.ok(fact !== undefined, name)
      if ('value' in fact) assert.equal(typeof fact.value, type, name)
    }
  })
})
