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
