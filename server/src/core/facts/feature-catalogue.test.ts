import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureRequest } from '../decide/measure-request.ts'
import { compileProducts } from '../policy/compile/compile-products.ts'
import { deriveFacts, type FactsRequest } from './derive-facts.ts'
import { applyConsent, applyTransactions, type EntityState, emptyState, type TransactionFact } from './entity-state.ts'
import type { FactSet, MissingBecause } from './facts.ts'
import { FEATURE_CATALOGUE, featureNames, needsMissingReason } from './feature-catalogue.ts'

const NOW = '2026-07-15T12:00:00.000Z'
const CREDIT: FactsRequest = { product: 'default', requestedAmount: 1000, currency: 'EUR' }
const ACCESS: FactsRequest = { product: 'default' }

const transaction = (over: Partial<TransactionFact>): TransactionFact => ({
  occurredAt: '2026-07-01T00:00:00.000Z',
  externalId: over.occurredAt ?? 't',
  amount: 100,
  currency: 'EUR',
  direction: 'debit',
  ...over,
})
const months = ['03', '04', '05', '06', '07'].map((month) => `2026-${month}-01T00:00:00.000Z`)
const withTransactions = (transactions: TransactionFact[]) => applyTransactions(emptyState(), transactions)
const withConsent = (over: { status?: 'revoked'; expiresAt?: string }): EntityState =>
  applyConsent(emptyState(), {
    purpose: 'credit_underwriting',
    status: 'granted',
    dataCategories: [],
    grantedAt: '2026-01-01T00:00:00.000Z',
    ...over,
  })

/** Together these make every feature missing for every reason that it can be missing for. */
const SITUATIONS: readonly [string, EntityState, FactsRequest][] = [
  ['nothing is known', emptyState(), CREDIT],
  ['no amount and no currency are requested', emptyState(), ACCESS],
  ['one day of transactions', withTransactions([transaction({ balanceAfter: 5 })]), CREDIT],
  ['transactions in another currency', withTransactions([transaction({ currency: 'USD', balanceAfter: 5 })]), CREDIT],
  [
    'transfers only',
    withTransactions(months.map((at) => transaction({ occurredAt: at, category: 'own_transfer' }))),
    CREDIT,
  ],
  ['consent was revoked', withConsent({ status: 'revoked' }), CREDIT],
  ['consent has expired', withConsent({ expiresAt: '2026-02-01T00:00:00.000Z' }), CREDIT],
]

test('the catalogue lists exactly the reasons for which each feature can be missing', () => {
  const seen: Record<string, Set<MissingBecause>> = {}
  for (const [, state, request] of SITUATIONS) {
    for (const [name, fact] of Object.entries(featuresOf(state, request))) {
      seen[name] ??= new Set()
      if ('missing' in fact) seen[name].add(fact.missing)
    }
  }
  for (const [name, { missing_because }] of Object.entries(FEATURE_CATALOGUE))
    assert.deepEqual([...(seen[name] ?? [])].sort(), [...missing_because].sort(), name)
})

test('a feature that is never missing, or only because nothing was requested, needs no reason for its absence', () => {
  const withoutReason = Object.entries(FEATURE_CATALOGUE)
    .filter(([, definition]) => !needsMissingReason(definition))
    .map(([name]) => name)
  const families = ['consent.', 'history.', 'offers.'] as const
  assert.deepEqual(
    withoutReason.filter((name) => !families.some((family) => name.startsWith(family))),
    [
      'request.product',
      'request.date',
      'request.hash',
      'request.currency',
      'request.amount',
      'request.term_months',
      'request.instalment',
    ],
  )
  assert.equal(withoutReason.length, 7 + families.flatMap(featureNames).length)
})

function featuresOf(state: EntityState, request: FactsRequest): FactSet {
  const { features } = deriveFacts({ state, entity: {}, request, now: NOW })
  const measured = measureRequest({
    terms: compileProducts([{ product: 'default', term_months: 12, annual_rate: 0.12 }]).get('default')!,
    product: 'default',
    perReference: 1,
    fee: 0,
    amount: request.requestedAmount,
    currency: request.currency,
    monthlyIncome: features['cashflow.monthly_income']!,
    reserve: features['cashflow.reserve']!,
    lowestBalance: features['cashflow.lowest_balance']!,
  })
  return { ...features, ...measured }
}
