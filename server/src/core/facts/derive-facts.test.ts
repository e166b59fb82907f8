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

const DAY_MS = 86_400_000

/** An instant some days before `NOW`. */
const daysAgo = (days: number) => new Date(Date.parse(NOW) - days * DAY_MS).toISOString()

/** One transaction some days ago: a credit if the amount is positive. */
function booked(days: number, amount: number, over: Partial<TransactionFact> = {}): TransactionFact {
  return {
    occurredAt: daysAgo(days),
    externalId: `${days}/${amount}`,
    amount: Math.abs(amount),
    currency: 'EUR',
    direction: amount > 0 ? 'credit' : 'debit',
    ...over,
  }
}

/** The same transactions with the balance after each, in the order of time. */
function withBalances(transactions: TransactionFact[], opening: number): TransactionFact[] {
  let balance = opening
  return transactions
    .toSorted((a, b) => (a.occurredAt < b.occurredAt ? -1 : 1))
    .map((fact) => {
      balance += fact.direction === 'credit' ? fact.amount : -fact.amount
      return { ...fact, balanceAfter: Math.round(balance * 100) / 100 }
    })
}

/** A salary every 30 days and spending ten days after it, from `from` to `to` days ago. */
function salaried({ salary = 2000, spent = 1500, from = 360, to = 0, opening = 1000 } = {}): TransactionFact[] {
  const all: TransactionFact[] = []
  for (let days = from; days >= to; days -= 30) {
    all.push(booked(days, salary, { counterparty: 'Acme GmbH' }))
    if (days - 10 >= to) all.push(booked(days - 10, -spent))
  }
  return withBalances(all, opening)
}

const ingested = (transactions: TransactionFact[]) => applyTransactions(emptyState(), transactions)
const salariedState = ingested(salaried())
const valueIn = (transactions: TransactionFact[], name: string) => {
  const fact = featureOf(ingested(transactions), `cashflow.${name}`)
  return fact !== undefined && 'value' in fact ? fact.value : fact
}

const consent = (over: Partial<ConsentFact>): ConsentFact => ({
  purpose: 'credit_underwriting',
  status: 'granted',
  dataCategories: [],
  grantedAt: '2026-01-01T00:00:00.000Z',
  ...over,
})

describe('cash-flow facts', () => {
  it('are the same on every day of the month', () => {
    const request = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
    const at = (shift: number) => {
      const moved = salaried().map((fact) => ({
        ...fact,
        occurredAt: new Date(Date.parse(fact.occurredAt) + shift * DAY_MS).toISOString(),
      }))
      const now = new Date(Date.parse(NOW) + shift * DAY_MS).toISOString()
      const { 'request.date': _, ...features } = deriveFacts({
        state: ingested(moved),
        entity: {},
        request,
        now,
      }).features
      return features
    }
    for (let shift = 1; shift <= 31; shift++) assert.deepEqual(at(shift), at(0), `${shift} days later`)
  })

  it('count the days between the first and the last debit of the last 365', () => {
    assert.deepEqual(featureOf(salariedState, 'cashflow.days_observed'), { value: 331, age_days: 20 })
    assert.deepEqual(featureOf(salariedState, 'cashflow.days_since_last'), { value: 20 })
    const longer = ingested(salaried({ from: 720 }))
    assert.deepEqual(featureOf(longer, 'cashflow.days_observed'), { value: 331, age_days: 20 })
    assert.equal(valueIn([...salaried(), booked(364, 5)], 'days_observed'), 331)
  })

  it('count a feed of 90 days as 90 days, and two stray debits do not shorten a year', () => {
    assert.equal(valueIn(salaried({ from: 90 }), 'days_observed'), 61)
    const credits = salaried().filter(({ direction }) => direction === 'credit')
    assert.equal(valueIn([...credits, booked(5, -20), booked(9, -20)], 'days_observed'), 361)
  })

  it('recognise a salary as recurring and count it with what it pays now', () => {
    assert.equal(valueIn(salaried(), 'recurring_income'), 1971.25)
    assert.equal(valueIn(salaried(), 'other_income'), 0)
    const raised = [...salaried({ to: 100 }), ...salaried({ from: 90, salary: 3000 })]
    assert.ok(Number(valueIn(raised, 'recurring_income')) > 2400)
    assert.equal(valueIn(raised, 'stopped_income'), 0)
  })

  it('see within two missed payments that income stopped, and a new employer as no loss', () => {
    const spending = [90, 80, 70, 60, 50, 40, 30, 20, 10, 1].map((days) => booked(days, -100))
    const lost = [...salaried({ to: 91 }), ...spending]
    assert.equal(valueIn(lost, 'recurring_income'), 0)
    assert.equal(valueIn(lost, 'stopped_income'), 1971.25)
    assert.equal(valueIn(lost, 'days_since_recurring'), 120)
    const moved = [...lost, ...[70, 40, 10].map((days) => booked(days, 2100, { counterparty: 'Zenith AG' }))]
    assert.ok(Number(valueIn(moved, 'monthly_income')) > 2000)
  })

  it('take a feed that ended for the end of the feed, not of the income', () => {
    const ended = salaried({ to: 100 })
    assert.equal(valueIn(ended, 'stopped_income'), 0)
    assert.equal(valueIn(ended, 'days_since_last'), 110)
  })

  it('do not count money that leaves again in the same total, whole or in parts', () => {
    const around = [300, 240, 180, 120, 60].flatMap((days) => [
      booked(days + 5, 5000, { counterparty: 'Friend' }),
      booked(days + 3, -3000),
      booked(days + 2, -2000),
    ])
    const whole = [310, 250].flatMap((days) => [booked(days, 7000, { counterparty: 'Own' }), booked(days - 1, -7000)])
    const all = [...salaried(), ...around, ...whole]
    assert.equal(valueIn(all, 'monthly_income'), valueIn(salaried(), 'monthly_income'))
    assert.equal(valueIn(all, 'monthly_spending'), valueIn(salaried(), 'monthly_spending'))
    assert.ok(Number(valueIn(all, 'circular_share')) > 0.5)
    assert.equal(valueIn(salaried(), 'circular_share'), 0)
  })

  it('compare the income of the leanest five weeks with the outflow of an average month', () => {
    assert.equal(valueIn(salaried(), 'lowest_income_to_outflow'), 1.446464)
    const gap = salaried().filter(({ occurredAt }) => occurredAt !== daysAgo(90))
    assert.equal(valueIn(gap, 'lowest_income_to_outflow'), 0)
    const short = ingested([booked(3, 100), booked(2, -5), booked(1, -5)])
    assert.deepEqual(featureOf(short, 'cashflow.monthly_income'), { missing: 'too_short' })
  })

  it('count three payments in two months as two a month apart, and not as three in two', () => {
    const paid = [61, 31, 1].map((days) => booked(days, -600))
    assert.equal(valueIn(paid, 'monthly_spending'), 600)
    const earned = [50, 20].map((days) => booked(days, 610))
    assert.equal(valueIn([...paid, ...earned], 'outflow_to_income'), 1)
  })

  it('do not know spending without debits', () => {
    const credits = salaried().filter(({ direction }) => direction === 'credit')
    for (const name of ['monthly_spending', 'monthly_debt_service', 'outflow_to_income', 'lowest_income_to_outflow'])
      assert.deepEqual(featureOf(ingested(credits), `cashflow.${name}`), { missing: 'no_data' }, name)
    assert.equal(valueIn(credits, 'monthly_income'), 1971.25)
  })

  it('do not know income if part of it is in another currency', () => {
    const dollars = [200, 150, 100].map((days) => booked(days, 900, { currency: 'USD', externalId: `usd-${days}` }))
    const state = ingested([...salaried(), ...dollars])
    assert.deepEqual(featureOf(state, 'cashflow.other_currencies'), { value: 1 })
    for (const name of ['monthly_income', 'outflow_to_income', 'lowest_income_to_outflow'])
      assert.deepEqual(featureOf(state, `cashflow.${name}`), { missing: 'other_currency' }, name)
    assert.deepEqual(featureOf(salariedState, 'cashflow.other_currencies'), { value: 0 })
  })

  it('are missing in a currency without transactions, never converted and never zero', () => {
    const seenInAny = /overdrawn_days|returned_payments|other_currencies|debits_in/
    for (const name of featureNames('cashflow.')) {
      assert.deepEqual(featureOf(emptyState(), name), { missing: 'no_data' }, name)
      if (seenInAny.test(name)) continue
      assert.deepEqual(featureOf(salariedState, name, { currency: 'USD' }), { missing: 'other_currency' }, name)
    }
  })

  it('count overdrawn days by recency, in every currency, and a day below zero in two currencies once', () => {
    const below = (days: number, currency = 'EUR') =>
      booked(days, -5, { currency, balanceAfter: -5, externalId: `${currency}-${days}` })
    const state = ingested([below(20), below(20, 'CZK'), below(60, 'CZK'), below(200), below(300), below(380)])
    assert.deepEqual(featureOf(state, 'cashflow.overdrawn_days_30'), { value: 1, age_days: 20 })
    assert.deepEqual(featureOf(state, 'cashflow.overdrawn_days_90'), { value: 2, age_days: 20 })
    assert.deepEqual(featureOf(state, 'cashflow.overdrawn_days_365'), { value: 4, age_days: 20 })
    assert.equal(valueIn([below(20), booked(10, 400, { balanceAfter: -900 })], 'overdrawn_days_30'), 1)
    assert.equal(valueIn([booked(10, 400, { balanceAfter: -900 })], 'overdrawn_days_30'), 1)
    assert.equal(valueIn([below(20), booked(10, -700, { balanceAfter: -705 })], 'deepest_overdraft'), 705)
  })

  it('do not let one bad day change the reserve', () => {
    const daily = withBalances(
      [booked(100, 9000), ...Array.from({ length: 40 }, (_, index) => booked(90 - index * 2, -100))],
      0,
    )
    const oneBadDay = daily.map((fact, index) => (index === 5 ? { ...fact, balanceAfter: -400 } : fact))
    assert.equal(valueIn(daily, 'reserve'), 5400)
    assert.equal(valueIn(oneBadDay, 'reserve'), 5300)
    assert.equal(valueIn(oneBadDay, 'lowest_balance'), -400)
  })

  it('say how many balances follow from the one before, in whatever order a day was booked', () => {
    assert.equal(valueIn(salaried(), 'balances_reconciled'), 1)
    const sameDay = withBalances(
      [booked(50, 700), booked(40, -30), booked(40, -20), booked(40, 90), booked(7, -5)],
      100,
    )
    const renamed = sameDay.map((fact, index) => ({ ...fact, externalId: `${9 - index}`, occurredAt: fact.occurredAt }))
    assert.equal(valueIn(renamed, 'balances_reconciled'), 1)
    const shifted = salaried().map((fact, index) => ({ ...fact, balanceAfter: fact.balanceAfter! + (index % 4) * 150 }))
    assert.ok(Number(valueIn(shifted, 'balances_reconciled')) < 0.1)
    const forged = renamed.map((fact) => (fact.amount === 20 ? { ...fact, balanceAfter: 2000 } : fact))
    assert.ok(Number(valueIn(forged, 'balances_reconciled')) < 1)
  })

  it('say how many debits report a balance', () => {
    const half = salaried().map(({ balanceAfter, ...fact }, index) =>
      index % 4 < 2 ? { ...fact, balanceAfter } : fact,
    )
    assert.equal(valueIn(half as TransactionFact[], 'debits_with_balance'), 0.5)
    const bare = salaried().map(({ balanceAfter: _, ...fact }) => fact)
    assert.deepEqual(featureOf(ingested(bare), 'cashflow.average_balance'), { missing: 'no_data' })
    assert.deepEqual(featureOf(ingested(bare), 'cashflow.overdrawn_days_365'), { missing: 'no_data' })
  })

  it('count the repayment of loans as debt service, a new loan in full', () => {
    const loan = [80, 50, 20].map((days) => booked(days, -300, { category: 'Loan Payment' }))
    assert.equal(valueIn([...salaried(), ...loan], 'monthly_debt_service'), 300)
    assert.equal(valueIn(salaried(), 'monthly_debt_service'), 0)
    assert.equal(valueIn([...salaried(), ...loan], 'monthly_spending'), valueIn(salaried(), 'monthly_spending'))
  })

  it('are not looked at for access without credit', () => {
    const { features } = deriveFacts({ state: salariedState, entity: {}, request: { product: 'access' }, now: NOW })
    for (const name of featureNames('cashflow.')) assert.deepEqual(features[name], { missing: 'not_requested' }, name)
  })
})

describe('consent', () => {
  const state = salariedState
  const observed = { value: 331, age_days: 20 }

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
    assert.deepEqual(featureOf(partly, 'cashflow.days_observed'), observed)
    assert.deepEqual(featureOf(partly, 'consent.credit_underwriting'), { value: 'granted' })
  })

  it('holds from the instant of its grant', () => {
    const statusAfter = (grantedAt: string) =>
      featureOf(applyConsent(state, consent({ grantedAt })), 'consent.credit_underwriting')
    assert.deepEqual(statusAfter(NOW), { value: 'granted' })
    assert.deepEqual(statusAfter(new Date(Date.parse(NOW) + 1).toISOString()), { value: 'none' })
  })

  it('that expired withholds data from the instant of expiry', () => {
    const expiring = applyConsent(state, consent({ expiresAt: NOW }))
    const before = '2026-07-15T11:59:59.999Z'
    assert.deepEqual(featureOf(expiring, 'cashflow.days_observed', { now: before }), observed)
    assert.deepEqual(featureOf(expiring, 'cashflow.days_observed'), { missing: 'consent_expired' })
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
    assert.deepEqual(featureOf(state, 'cashflow.days_observed'), observed)
  })

  it('to marketing does not affect a decision when it is revoked', () => {
    const revoked = applyConsent(state, consent({ purpose: 'marketing', status: 'revoked', revokedAt: NOW }))
    assert.deepEqual(featureOf(revoked, 'cashflow.days_observed'), observed)
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
      salariedState,
      applyFeatureSnapshot(ingested([booked(3, 100)]), snapshot),
      applyConsent(applyFeatureSnapshot(salariedState, snapshot), consent({ status: 'revoked', revokedAt: NOW })),
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
      state: salariedState,
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
