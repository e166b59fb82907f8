import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../../canonical-json.ts'
import type { ExposurePath } from '../../graph/describe-trust.ts'
import type { AccountTerms } from '../cashflow/accounts/account-terms.ts'
import type { TransactionFact } from '../cashflow/transaction-fact.ts'
import { deriveFacts } from '../derive-facts.ts'
import {
  applyCashflow,
  applyConsent,
  applyFeatureSnapshot,
  applyIdentityLink,
  applyOutcome,
  applyTransactions,
  type ConsentFact,
  type EntityState,
  emptyState,
  type FeatureSnapshotFact,
  type IdentityLinkFact,
  type OutcomeFact,
} from '../entity-state.ts'
import { combineStates } from './combine-states.ts'

const START = Date.UTC(2025, 0, 1)
const DAY_MS = 86_400_000
const instantOf = (day: number) => new Date(START + day * DAY_MS).toISOString()
const NOW = instantOf(120)

const days = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 100 }))
const instants = days.map(instantOf)
/** Money in few amounts, so that two entities report the same. */
const transaction: fc.Arbitrary<TransactionFact> = fc.record(
  {
    occurredAt: instants,
    externalId: fc.integer({ min: 0, max: 30 }).map(String),
    account: fc.constantFrom('a', 'b'),
    amount: fc.constantFrom(100, 250, 250.5, 900),
    currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'CZK'),
    direction: fc.constantFrom('credit', 'debit'),
    balanceAfter: fc.integer({ min: -50_000, max: 500_000 }).map((cents) => cents / 100),
    category: fc.constantFrom('own_transfer', 'loan_proceeds', 'loan_repayment', 'refund', 'returned_payment', 'rent'),
    counterparty: fc.constantFrom('Acme', 'Zenith'),
  },
  { requiredKeys: ['occurredAt', 'externalId', 'amount', 'currency', 'direction'] },
)
const balance = fc.record({
  account: fc.constantFrom('a', 'b'),
  currency: fc.constantFrom('EUR', 'CZK'),
  day: days.map((day) => START / DAY_MS + day),
  kind: fc.constantFrom('opening', 'closing'),
  units: fc.integer({ min: -1_000_000, max: 100_000_000 }),
})
const terms: fc.Arbitrary<AccountTerms> = fc.record(
  { kind: fc.constantFrom('current', 'savings', 'card', 'loan'), holders: fc.integer({ min: 1, max: 3 }) },
  { requiredKeys: [] },
)
const link: fc.Arbitrary<IdentityLinkFact> = fc.record({
  identifier: fc
    .record({ type: fc.constantFrom('tax_id', 'email'), digit: fc.integer({ min: 0, max: 13 }) })
    // A hash covers the issuer of its identifier.
    .map(({ type, digit }) => ({ type, hash: digit.toString(16).repeat(16), issuer: `issuer ${digit}` })),
  verification: fc.record({ status: fc.constantFrom('verified', 'failed', 'unverified'), verifiedAt: instants }),
  createdAt: instants,
})
const consent: fc.Arbitrary<ConsentFact> = fc.record(
  {
    purpose: fc.constantFrom('credit_underwriting', 'transaction_analysis'),
    status: fc.constantFrom('granted', 'revoked'),
    dataCategories: fc.constantFrom([], ['identity'], ['transactions']),
    grantedAt: instants,
    expiresAt: instants,
  },
  { requiredKeys: ['purpose', 'status', 'dataCategories', 'grantedAt'] },
)
const snapshot: fc.Arbitrary<FeatureSnapshotFact> = fc.record({
  source: fc.constantFrom('bureau', 'own'),
  asOf: instants,
  features: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constant(null))),
})
const outcome: fc.Arbitrary<OutcomeFact> = fc.record(
  {
    id: fc.uuid(),
    decisionId: fc.uuid(),
    type: fc.constantFrom('funded', 'late', 'default', 'repaid'),
    occurredAt: instants,
    daysPastDue: fc.integer({ min: 1, max: 90 }),
    amount: fc.integer({ min: 1, max: 10_000 }),
    currency: fc.constantFrom('EUR', 'CZK'),
  },
  { requiredKeys: ['id', 'decisionId', 'type', 'occurredAt'] },
)
const shares = fc.integer({ min: 0, max: 4 }).map((quarters) => quarters / 4)
const exposure = fc.option(
  fc.record({
    negativeExposure: shares,
    negativeExposureWithoutPayments: shares,
    positiveSupport: shares,
    evidenceCount: fc.integer({ min: 0, max: 3 }),
    asOf: instants,
    paths: fc.constant<ExposurePath[]>([]),
  }),
)
const state: fc.Arbitrary<EntityState> = fc
  .record({
    transactions: fc.array(transaction, { maxLength: 30 }),
    balances: fc.array(balance, { maxLength: 3 }),
    accounts: fc.dictionary(fc.constantFrom('a', 'b'), terms),
    links: fc.array(link, { maxLength: 9 }),
    consents: fc.array(consent, { maxLength: 4 }),
    snapshots: fc.array(snapshot, { maxLength: 3 }),
    outcomes: fc.array(outcome, { maxLength: 4 }),
    exposure,
  })
  .map((known) => {
    let next = applyCashflow(emptyState(), known)
    for (const one of known.links) next = applyIdentityLink(next, one)
    for (const one of known.consents) next = applyConsent(next, one)
    for (const one of known.snapshots) next = applyFeatureSnapshot(next, one)
    for (const one of known.outcomes) next = applyOutcome(next, one)
    return { ...next, ...(known.exposure && { graph: known.exposure }) }
  })

function factsOf(of: EntityState): string {
  const request = { product: 'loan', requestedAmount: 1_000, currency: 'EUR' }
  return canonicalJson(deriveFacts({ state: of, entity: {}, request, now: NOW }))
}

describe('the states of merged entities', () => {
  it('combine to the same state in any order', () => {
    fc.assert(
      fc.property(state, state, state, (a, b, c) => {
        const whole = canonicalJson(combineStates([a, b, c]))
        for (const order of [
          [a, c, b],
          [b, a, c],
          [b, c, a],
          [c, a, b],
          [c, b, a],
        ])
          assert.equal(canonicalJson(combineStates(order)), whole)
        assert.equal(factsOf(combineStates([b, a])), factsOf(combineStates([a, b])))
      }),
      { numRuns: 200 },
    )
  })

  it('are the one state if there is only one, or the others are empty', () => {
    fc.assert(
      fc.property(state, (one) => {
        assert.equal(combineStates([one]), one)
        assert.equal(canonicalJson(combineStates([one, emptyState()])), canonicalJson(one))
      }),
      { numRuns: 200 },
    )
  })

  it('count what both report of accounts, identifiers, consents and features once', () => {
    fc.assert(
      fc.property(state, (one) => {
        const { history: _, identity, ...twice } = combineStates([one, one])
        const { history: __, identity: once, ...whole } = one
        assert.equal(canonicalJson(twice), canonicalJson(whole))
        for (const [type, { links }] of Object.entries(once))
          assert.deepEqual(identity[type as keyof typeof identity], {
            ...once[type as keyof typeof once],
            links: 2 * links,
          })
      }),
      { numRuns: 200 },
    )
  })

  it('are that of one entity with all transactions, if each has accounts or days of its own', () => {
    const own = (days: readonly [first: number, last: number], account: string) =>
      fc.array(
        transaction
          .map((one): TransactionFact => ({ ...one, account }))
          .filter(({ occurredAt }) => {
            const day = (Date.parse(occurredAt) - START) / DAY_MS
            return day >= days[0] && day <= days[1]
          }),
        { maxLength: 30 },
      )
    const lists = fc.oneof(
      fc.tuple(own([0, 100], 'a'), own([0, 100], 'b')),
      fc.tuple(own([0, 4], 'a'), own([5, 100], 'a')),
    )
    fc.assert(
      fc.property(lists, ([a, b]) => {
        const merged = combineStates([a, b].map((list) => applyTransactions(emptyState(), list)))
        assert.equal(factsOf(merged), factsOf(applyTransactions(emptyState(), [...a, ...b])))
      }),
      { numRuns: 200 },
    )
  })
})

describe('the accounts of merged entities', () => {
  const shifted = fc.constantFrom(0, 100_000)
  /** Debits of an account on some days, with the balance after each. */
  const spent = (account?: string) =>
    fc
      .tuple(shifted, fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { minLength: 3, maxLength: 20 }))
      .chain(([opening, onDays]) =>
        fc
          .array(fc.constantFrom(50, 900, 1_200), { minLength: onDays.length, maxLength: onDays.length })
          .map((amounts) =>
            statementOf({ opening: opening / 10, onDays: onDays.sort((a, b) => a - b), amounts, account }),
          ),
      )
  const statementOf = ({
    opening,
    onDays,
    amounts,
    account,
  }: {
    opening: number
    onDays: readonly number[]
    amounts: readonly number[]
    account: string | undefined
  }) => {
    let balance = opening
    return onDays.map((day, index): TransactionFact => {
      balance -= amounts[index]!
      return {
        occurredAt: instantOf(day),
        externalId: `${day}`,
        ...(account !== undefined && { account }),
        amount: amounts[index]!,
        currency: 'EUR',
        direction: 'debit',
        balanceAfter: balance,
      }
    })
  }
  const NAMES = ['cashflow.deepest_overdraft', 'cashflow.overdrawn_days_365'] as const
  const overdraftOf = (...states: EntityState[]): number[] => {
    const { features } = JSON.parse(factsOf(combineStates(states)))
    return NAMES.map((name) => features[name].value)
  }

  it('hide no overdraft that one of them shows', () => {
    const lists = fc.oneof(fc.tuple(spent(), spent()), fc.tuple(spent('a'), spent('a')), fc.tuple(spent(), spent('a')))
    fc.assert(
      fc.property(lists, (pair) => {
        const [one, other] = pair.map((list) => applyTransactions(emptyState(), list)) as [EntityState, EntityState]
        const merged = overdraftOf(one, other)
        for (const alone of [overdraftOf(one), overdraftOf(other)])
          for (const [index, name] of NAMES.entries()) assert.ok(merged[index]! >= alone[index]!, name)
      }),
      { numRuns: 500 },
    )
  })

  it('are two if both report an account without naming it and most of the days that both report differ', () => {
    fc.assert(
      fc.property(spent(), spent(), (a, b) => {
        const common = a.flatMap((one) => {
          const other = b.find(({ occurredAt }) => occurredAt === one.occurredAt)
          return other ? [one.amount === other.amount && one.balanceAfter === other.balanceAfter] : []
        })
        fc.pre(2 * common.filter((isSame) => !isSame).length > common.length)
        const merged = combineStates([a, b].map((list) => applyTransactions(emptyState(), list)))
        const named = [a, b].flatMap((list, index) => list.map((one) => ({ ...one, account: `${index}` })))
        assert.equal(factsOf(merged), factsOf(applyTransactions(emptyState(), named)))
      }),
      { numRuns: 200 },
    )
  })
})
