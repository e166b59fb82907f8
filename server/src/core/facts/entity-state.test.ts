import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../canonical-json.ts'
import { type DayBucket, incomeOf, unpackDay } from './cashflow/day-bucket.ts'
import {
  applyConsent,
  applyFeatureSnapshot,
  applyIdentityLink,
  applyOutcome,
  applyTransactions,
  type ConsentFact,
  countFeatures,
  type EntityState,
  emptyState,
  type FeatureSnapshotFact,
  type IdentityLinkFact,
  type OutcomeFact,
  type TransactionFact,
} from './entity-state.ts'

type Ingest =
  | { kind: 'transactions'; batch: TransactionFact[] }
  | { kind: 'link'; link: IdentityLinkFact }
  | { kind: 'consent'; consent: ConsentFact }
  | { kind: 'snapshot'; snapshot: FeatureSnapshotFact }
  | { kind: 'outcome'; outcome: OutcomeFact }

function apply(state: EntityState, ingest: Ingest): EntityState {
  switch (ingest.kind) {
    case 'transactions':
      return applyTransactions(state, ingest.batch)
    case 'link':
      return applyIdentityLink(state, ingest.link)
    case 'consent':
      return applyConsent(state, ingest.consent)
    case 'snapshot':
      return applyFeatureSnapshot(state, ingest.snapshot)
    case 'outcome':
      return applyOutcome(state, ingest.outcome)
  }
}

const stateOf = (ingests: Ingest[]) => canonicalJson(ingests.reduce(apply, emptyState()))

const instants = fc
  .date({ min: new Date('2024-01-01T00:00:00Z'), max: new Date('2026-06-30T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString())
const fewInstants = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z')
const hundredths = (from: number, to: number) => fc.integer({ min: from, max: to }).map((cents) => cents / 100)

const transactions: fc.Arbitrary<TransactionFact[]> = fc.uniqueArray(
  fc.record(
    {
      occurredAt: fc.oneof(instants, fewInstants),
      externalId: fc.uuid(),
      amount: fc.oneof(hundredths(1, 1_000_000), fc.constantFrom(100, 200, 300)),
      currency: fc.constantFrom('EUR', 'CZK'),
      direction: fc.constantFrom('credit', 'debit'),
      balanceAfter: hundredths(-500_000, 5_000_000),
      category: fc.constantFrom('own_transfer', 'loan_proceeds', 'loan_repayment', 'returned_payment', 'rent'),
      counterparty: fc.constantFrom('Acme', 'Zenith'),
    },
    { requiredKeys: ['occurredAt', 'externalId', 'amount', 'currency', 'direction'] },
  ),
  { selector: (transaction) => transaction.externalId, maxLength: 30 },
)
const links: fc.Arbitrary<IdentityLinkFact> = fc.record({
  identifier: fc.record({
    type: fc.constantFrom('government_id', 'tax_id', 'device'),
    hash: fc.constantFrom(...Array.from({ length: 12 }, (_, index) => index.toString(16).repeat(64))),
  }),
  verification: fc.record({ status: fc.constantFrom('verified', 'unverified', 'failed') }),
  createdAt: fc.oneof(instants, fewInstants),
})
const consents: fc.Arbitrary<ConsentFact> = fc.record(
  {
    purpose: fc.constantFrom('credit_underwriting', 'transaction_analysis'),
    status: fc.constantFrom('granted', 'revoked'),
    dataCategories: fc.subarray(['identity', 'transactions', 'features', 'graph']),
    grantedAt: fewInstants,
    expiresAt: instants,
    revokedAt: fewInstants,
  },
  { requiredKeys: ['purpose', 'status', 'dataCategories', 'grantedAt'] },
)
const snapshots: fc.Arbitrary<FeatureSnapshotFact[]> = fc.uniqueArray(
  fc.record({
    source: fc.constantFrom('crm', 'bureau'),
    asOf: instants,
    features: fc.dictionary(fc.constantFrom('constructor', 'tenure_months', 'utilization'), fc.integer()),
  }),
  { selector: (snapshot) => snapshot.asOf, maxLength: 5 },
)
const outcomes: fc.Arbitrary<OutcomeFact> = fc.record({
  id: fc.uuid(),
  decisionId: fc.uuid(),
  type: fc.constantFrom('late', 'default', 'repaid'),
  occurredAt: instants,
  daysPastDue: fc.nat(400),
})

/** The same facts twice, in different orders and with the transactions split into different batches. */
const sameFactsInTwoOrders = fc
  .record({
    transactions,
    links: fc.array(links, { maxLength: 30 }),
    consents: fc.array(consents),
    snapshots,
    outcomes: fc.array(outcomes),
  })
  .chain((facts) => {
    const others: Ingest[] = [
      ...facts.links.map((link) => ({ kind: 'link', link }) as const),
      ...facts.consents.map((consent) => ({ kind: 'consent', consent }) as const),
      ...facts.snapshots.map((snapshot) => ({ kind: 'snapshot', snapshot }) as const),
      ...facts.outcomes.map((outcome) => ({ kind: 'outcome', outcome }) as const),
    ]
    const inSomeOrder = fc
      .record({ order: shuffled(facts.transactions), batchSize: fc.integer({ min: 1, max: 30 }) })
      .chain(({ order, batchSize }) => shuffled([...others, ...inBatches(order, batchSize)]))
    return fc.tuple(inSomeOrder, inSomeOrder)
  })

function shuffled<Item>(items: Item[]): fc.Arbitrary<Item[]> {
  return fc.shuffledSubarray(items, { minLength: items.length })
}

function inBatches(all: TransactionFact[], size: number): Ingest[] {
  const count = Math.ceil(all.length / size)
  return Array.from({ length: count }, (_, index) => ({
    kind: 'transactions',
    batch: all.slice(index * size, (index + 1) * size),
  }))
}

const transaction = (over: Partial<TransactionFact>): TransactionFact => ({
  occurredAt: '2026-03-10T12:00:00.000Z',
  externalId: 'tx',
  amount: 100,
  currency: 'EUR',
  direction: 'credit',
  ...over,
})

function dayOf(batch: TransactionFact[]): DayBucket {
  return unpackDay(applyTransactions(emptyState(), batch).cashflow.currencies.EUR!.accounts['']!.days[0]!)
}

it('the state of an entity without any facts counts nothing, in the format that is stored', () => {
  const { format, history, graph } = emptyState()
  assert.deepEqual([format, history.worstDaysPastDue], [1, 0])
  const { paths, ...counts } = graph
  assert.deepEqual([paths, ...Object.values(counts)], [[], 0, 0, 0, 0])
})

describe('entity state', () => {
  it('does not depend on the order of ingest or on how transactions are batched', () => {
    fc.assert(
      fc.property(sameFactsInTwoOrders, ([one, other]) => {
        assert.equal(stateOf(one), stateOf(other))
      }),
    )
  })

  it('is plain JSON: storing and reading it back changes nothing', () => {
    fc.assert(
      fc.property(sameFactsInTwoOrders, ([ingests]) => {
        const viaText = ingests.reduce(
          (state, ingest) => apply(JSON.parse(JSON.stringify(state)), ingest),
          emptyState(),
        )
        assert.equal(canonicalJson(viaText), stateOf(ingests))
      }),
      { numRuns: 30 },
    )
  })

  it('is never changed in place', () => {
    fc.assert(
      fc.property(sameFactsInTwoOrders, ([ingests]) => {
        ingests.reduce((state, ingest) => {
          const before = canonicalJson(state)
          const next = apply(state, ingest)
          assert.equal(canonicalJson(state), before)
          return next
        }, emptyState())
      }),
      { numRuns: 30 },
    )
  })

  it('adds up money exactly', () => {
    const dimes = Array.from({ length: 10 }, (_, index) => transaction({ externalId: `${index}`, amount: 0.1 }))
    assert.equal(incomeOf(dayOf(dimes)), 10_000)
    const huge = [999_999_999_999, 0.001, 999_999_999_999].map((amount, index) =>
      transaction({ externalId: `${index}`, amount, direction: 'debit', category: 'loan_repayment' }),
    )
    assert.equal(dayOf(huge).repaid, '19999999999980010')
  })

  it('does not count own transfers, loan proceeds and returned payments as income', () => {
    const categories = ['own_transfer', 'loan_proceeds', 'returned_payment', 'salary']
    const day = dayOf(categories.map((category) => transaction({ externalId: category, category })))
    assert.equal(incomeOf(day), 1_000_000)
    assert.deepEqual([day.returned, day.transactions], [1, 4])
  })

  it('recognises the spellings of a category, and lenders by their name', () => {
    const spellings = ['loan_repayment', 'LOAN_PAYMENTS_CAR_PAYMENT', 'Loan payment', ' instalments ', 'loan-payment']
    for (const category of spellings)
      assert.equal(dayOf([transaction({ category, direction: 'debit' })]).repaid, 1_000_000)
    assert.equal(dayOf([transaction({ counterparty: 'Quick Loans Ltd', direction: 'debit' })]).repaid, 1_000_000)
    assert.equal(dayOf([transaction({ counterparty: 'Loanna Smith', direction: 'debit' })]).repaid, 0)
  })

  it('keeps 400 days, whatever the number of transactions', () => {
    const batch = Array.from({ length: 900 }, (_, index) => {
      const occurredAt = new Date(Date.UTC(2023, 0, 1 + index)).toISOString()
      return transaction({ externalId: `${index}`, occurredAt })
    })
    const { days, transactions } = applyTransactions(emptyState(), batch).cashflow.currencies.EUR!.accounts['']!
    assert.equal(days.length, 400)
    assert.equal(transactions, 900)
  })

  it('stays bounded on an account with thousands of transactions a day', () => {
    const busy = Array.from({ length: 5000 }, (_, index) =>
      transaction({
        externalId: `${index}`,
        occurredAt: new Date(Date.UTC(2026, 2, 1 + (index % 5))).toISOString(),
        amount: 1 + index,
        direction: index % 3 === 0 ? 'credit' : 'debit',
        balanceAfter: 1000 + index,
      }),
    )
    assert.ok(JSON.stringify(applyTransactions(emptyState(), busy)).length < 5 * 300 + 1000)
  })

  it('keeps the four largest credits and the five largest debits of a day, and the sum of the others', () => {
    const day = (direction: 'credit' | 'debit', count: number) =>
      dayOf(
        Array.from({ length: count }, (_, index) =>
          transaction({ externalId: `${index}`, amount: 1 + index, direction, counterparty: 'Acme' }),
        ),
      )
    const kept = ({ credits }: DayBucket) => credits.map(([amount]) => amount)
    assert.deepEqual([kept(day('credit', 4)), day('credit', 4).otherCredits], [[40_000, 30_000, 20_000, 10_000], 0])
    assert.deepEqual(
      [kept(day('credit', 5)), day('credit', 5).otherCredits],
      [[50_000, 40_000, 30_000, 20_000], 10_000],
    )
    assert.deepEqual([day('debit', 5).debits.length, day('debit', 5).otherDebits], [5, 0])
    assert.deepEqual([day('debit', 6).debits.length, day('debit', 6).otherDebits], [5, 10_000])
  })

  it('counts the features that it has with those of a snapshot, each once', () => {
    const { snapshot } = applyFeatureSnapshot(emptyState(), {
      source: 'crm',
      asOf: '2026-02-01T00:00:00.000Z',
      features: { tenure: 1, segment: 'retail' },
    })
    assert.equal(countFeatures(snapshot, { tenure: 2, utilization: 0.5, constructor: 1 }), 4)
  })

  it('replaces a feature by a correction of the same instant, but not by an older value', () => {
    const send = (state: EntityState, asOf: string, tenure: number) =>
      applyFeatureSnapshot(state, { source: 'crm', asOf, features: { tenure } })
    let state = send(emptyState(), '2026-02-01T00:00:00.000Z', 1)
    state = send(state, '2026-02-01T00:00:00.000Z', 2)
    state = send(state, '2026-01-01T00:00:00.000Z', 3)
    assert.equal(state.snapshot.tenure?.value, 2)
  })

  it('accepts a feature with the name of an inherited property', () => {
    const snapshot = { source: 'crm', asOf: '2026-02-01T00:00:00.000Z', features: { constructor: 7 } }
    const state = applyFeatureSnapshot(emptyState(), snapshot)
    assert.equal(Object.getOwnPropertyDescriptor(state.snapshot, 'constructor')?.value.value, 7)
    assert.deepEqual(Object.keys(state.snapshot), ['constructor'])
  })

  it('does not change the identity summary for a link that states a relationship', () => {
    const link: IdentityLinkFact = { verification: { status: 'verified' }, createdAt: '2026-02-01T00:00:00.000Z' }
    assert.deepEqual(applyIdentityLink(emptyState(), link).identity, {})
  })

  it('keeps a verification when an unverified link follows', () => {
    const identifier = { type: 'tax_id', hash: 'a'.repeat(64) } as const
    const verified: IdentityLinkFact = {
      identifier,
      verification: { status: 'verified' },
      createdAt: '2026-02-01T00:00:00.000Z',
    }
    const claimed: IdentityLinkFact = {
      identifier,
      verification: { status: 'unverified' },
      createdAt: '2026-03-01T00:00:00.000Z',
    }
    const state = applyIdentityLink(applyIdentityLink(emptyState(), verified), claimed)
    assert.deepEqual(state.identity.tax_id, {
      links: 2,
      verified: { ['a'.repeat(16)]: verified.createdAt },
      failed: {},
    })
  })

  it('stays bounded under a thousand identifiers, and keeps the newest', () => {
    const links = Array.from({ length: 1000 }, (_, index): IdentityLinkFact => {
      const createdAt = new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString()
      const identifier = { type: 'device', hash: `${String(index).padStart(16, '0')}${'0'.repeat(48)}` } as const
      return { identifier, verification: { status: 'verified' }, createdAt }
    })
    const state = links.toReversed().reduce(applyIdentityLink, emptyState())
    assert.ok(JSON.stringify(state).length < 1000)
    assert.equal(canonicalJson(state), canonicalJson(links.reduce(applyIdentityLink, emptyState())))
    const kept = Object.keys(state.identity.device?.verified ?? {}).map(Number)
    assert.deepEqual(kept.sort(), [992, 993, 994, 995, 996, 997, 998, 999])
  })
})
