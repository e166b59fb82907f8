/** Booking debits in another currency hides spending from the facts about it, and never makes a decline an approval. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decide } from '../src/core/decide/decide.ts'
import { deriveFacts } from '../src/core/facts/derive-facts.ts'
import {
  applyConsent,
  applyIdentityLink,
  applyTransactions,
  type EntityState,
  emptyState,
  type TransactionFact,
} from '../src/core/facts/entity-state.ts'
import { compilePolicy } from '../src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { applicants } from './applicants.ts'
import { sandboxPolicy } from './sandbox-policy.ts'
import { type BookedTransaction, booked, monthly } from './verified-applicant.ts'

const NOW = '2026-11-15T09:00:00.000Z'
const policy = sandboxPolicy()
const RULE = 'spending_in_other_currency'

/** A customer with two identifiers and a consent, as the officer's applicants are. */
const KNOWN: EntityState = applyConsent(
  ['government_id', 'tax_id'].reduce(
    (state, type) =>
      applyIdentityLink(state, {
        identifier: { type: type as 'tax_id', hash: type },
        verification: { status: 'verified' },
        createdAt: NOW,
      }),
    emptyState(),
  ),
  { purpose: 'credit_underwriting', status: 'granted', dataCategories: [], grantedAt: NOW },
)

/** An applicant for credit, and how much is asked for. */
interface Credit {
  name: string
  amount: number
  transactions: readonly Omit<BookedTransaction, 'account'>[]
}

/** Accounts that get along, hardly, and not at all. */
const strained: Credit[] = [700, 1100, 1400].flatMap((rent) =>
  [30, 400, 2500].map((opening) => {
    const living = [...monthly(24, 'City Rent', -rent), ...monthly(16, 'Market', -420), ...monthly(9, 'Market', -380)]
    const movements = [...monthly(27, 'Acme GmbH', 2000, 'salary'), ...living, ...monthly(3, 'Railway', -150)]
    const transactions = booked(movements, { now: NOW, id: 'tx', opening })
    return { name: `a rent of ${rent}, ${opening} at first`, amount: 3000, transactions }
  }),
)
const credits: Credit[] = [
  ...applicants(NOW).flatMap(({ amount, ...applicant }) => (amount === undefined ? [] : [{ ...applicant, amount }])),
  ...strained,
]

function transactionsOf({ transactions }: Credit): TransactionFact[] {
  return transactions.map(({ external_id, occurred_at, balance_after, counterparty, category, ...fact }) => ({
    ...fact,
    externalId: external_id,
    occurredAt: occurred_at,
    ...(balance_after !== undefined && { balanceAfter: balance_after }),
    ...(category !== undefined && { category }),
    ...(counterparty && { counterparty: counterparty.name }),
  }))
}

function verdictOn({ amount }: Credit, transactions: readonly TransactionFact[], under: CompiledPolicy = policy) {
  const request = { product: 'default', requestedAmount: amount, currency: 'EUR' }
  const state = applyTransactions(KNOWN, transactions)
  return decide(under, deriveFacts({ state, entity: {}, request, now: NOW })).verdict
}

/** How debits are booked in another currency: which, and what the balances of all other transactions become. */
interface Rebooking {
  currency: string
  picks: (debit: TransactionFact, index: number) => boolean
  /** Whether they are as if the debits had never been paid from the account, so that they add up. */
  lifts: boolean
}

function rebooked(transactions: readonly TransactionFact[], { currency, picks, lifts }: Rebooking): TransactionFact[] {
  let [lifted, index] = [0, 0]
  return transactions.map((fact) => {
    const { balanceAfter, ...withoutBalance } = fact
    if (fact.direction === 'debit' && picks(fact, index++)) {
      lifted += fact.amount
      return { ...(lifts ? withoutBalance : fact), currency }
    }
    if (balanceAfter === undefined || !lifts) return fact
    return { ...fact, balanceAfter: Math.round((balanceAfter + lifted) * 100) / 100 }
  })
}

const isApproved = (verdict: string) => verdict.startsWith('approve')

const ways: [name: string, Omit<Rebooking, 'currency'>][] = [
  ['every debit', { picks: () => true, lifts: false }],
  ['every second debit', { picks: (_, index) => index % 2 === 0, lifts: true }],
  ['every tenth debit', { picks: (_, index) => index % 10 === 0, lifts: true }],
  ['the debits that leave little', { picks: ({ balanceAfter = 0 }) => balanceAfter < 500, lifts: true }],
  ['the rent', { picks: ({ counterparty }) => counterparty === 'City Rent', lifts: true }],
]

test('no applicant who is declined is approved by debits in another currency', () => {
  const declined = credits.filter((applicant) => verdictOn(applicant, transactionsOf(applicant)) === 'decline')
  assert.ok(declined.length >= 5, `only ${declined.length} are declined`)
  const { document } = policy
  const compiled = compilePolicy({ ...document, rules: document.rules.filter(({ id }) => id !== RULE), tests: [] })
  assert.ok('policy' in compiled)
  let turned = 0
  for (const applicant of declined) {
    for (const [way, how] of ways) {
      const transactions = rebooked(transactionsOf(applicant), { ...how, currency: 'USD' })
      assert.ok(!isApproved(verdictOn(applicant, transactions)), `${applicant.name}: ${way}`)
      if (isApproved(verdictOn(applicant, transactions, compiled.policy))) turned += 1
    }
  }
  assert.ok(turned >= 3, `without the rule only ${turned} are approved, so this shows little`)
})

test('whichever debits of the last year an applicant books in another currency, no person is left out', () => {
  const anyApplicant = fc.constantFrom(...credits)
  const anyDebits = fc.array(fc.nat(400), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(anyApplicant, anyDebits, fc.constantFrom('USD', 'JPY', 'KWD'), fc.boolean(), (...drawn) => {
      const [applicant, chosen, currency, lifts] = drawn
      const before = transactionsOf(applicant)
      const debits = before.filter(({ direction }) => direction === 'debit').length
      if (debits === 0) return
      const picked = new Set(chosen.map((index) => index % debits))
      const after = rebooked(before, { currency, lifts, picks: (_, index) => picked.has(index) })
      const verdict = verdictOn(applicant, after)
      assert.ok(!isApproved(verdict), `${applicant.name}: ${verdict}`)
    }),
    { numRuns: 150 },
  )
})
