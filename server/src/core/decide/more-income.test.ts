import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { arbitraryFacts, money } from '../../../tests/arbitrary-facts.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { deriveFacts } from '../facts/derive-facts.ts'
import { applyTransactions, emptyState, type TransactionFact } from '../facts/entity-state.ts'
import type { Fact, Facts } from '../facts/facts.ts'
import { decide } from './decide.ts'

const policy = sandboxPolicy()
const NOW = '2026-07-15T12:00:00.000Z'
const OPENING_CENTS = 70_000

describe('more income', () => {
  it('never lowers the score of an account with a regular income, whenever it comes and whatever its amount', () => {
    fc.assert(
      fc.property(accounts, fc.nat(4), instants, fc.integer({ min: 1, max: 5_000_000 }), (account, ago, at, cents) => {
        const before = booked(account, ago)
        assert.ok(scoreOf(withCredit(before, at, cents)) >= scoreOf(before))
      }),
      { numRuns: 1000 },
    )
  })

  it('never lowers the points of any characteristic, if it comes every month', () => {
    fc.assert(
      fc.property(accounts, fc.integer({ min: 1, max: 5_000_000 }), (account, cents) => {
        const before = scorecardOf(booked(account))
        const after = scorecardOf(booked(account.map((month) => withSalary(month, cents))))
        for (const [index, { characteristic, points }] of before.entries()) {
          assert.ok((after[index]?.points ?? 0) >= points, `${characteristic}: ${points} → ${after[index]?.points}`)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('never lowers the capacity', () => {
    fc.assert(
      fc.property(arbitraryFacts, money, money, (given, income, more) => {
        const capacity = (inflow: number) =>
          decide(policy, withFact(given, 'cashflow.recurring_income', { value: inflow })).trace.limit?.terms.find(
            ({ term }) => term === 'income',
          )?.amount ?? 0
        assert.ok(capacity(income + more) >= capacity(income))
      }),
    )
  })
})

interface AccountMonth {
  salary: number
  spent: number
}

/** Accounts with a salary that varies by a fifth, and spending independent of it; newest month first. */
const accounts: fc.Arbitrary<AccountMonth[]> = fc.integer({ min: 100, max: 900_000 }).chain((usual) =>
  fc.array(
    fc.record({
      salary: fc.integer({ min: 80, max: 120 }).map((percent) => Math.round((usual * percent) / 100)),
      spent: fc.integer({ min: 1, max: 900_000 }),
    }),
    { minLength: 3, maxLength: 14 },
  ),
)

/** The transactions of an account, each with its running balance. */
function booked(account: readonly AccountMonth[], endsMonthsAgo = 0): TransactionFact[] {
  let cents = OPENING_CENTS
  return account.toReversed().flatMap(({ salary, spent }, month): TransactionFact[] => {
    const at = (day: number) => new Date(Date.UTC(2026, 7 - account.length - endsMonthsAgo + month, day)).toISOString()
    const shared = { currency: 'EUR' }
    cents += salary
    const credit = { occurredAt: at(1), externalId: `salary-${month}`, amount: salary / 100, balanceAfter: cents / 100 }
    cents -= spent
    const debit = { occurredAt: at(9), externalId: `spent-${month}`, amount: spent / 100, balanceAfter: cents / 100 }
    return [
      { ...shared, ...credit, direction: 'credit' },
      { ...shared, ...debit, direction: 'debit' },
    ]
  })
}

/** Any moment from thirteen months ago to now. */
const instants = fc
  .integer({ min: Date.UTC(2025, 6, 1), max: Date.parse(NOW) })
  .map((atMs) => new Date(atMs).toISOString())

/** The same account with one more credit, and every balance after it higher by as much. */
function withCredit(account: readonly TransactionFact[], at: string, cents: number): TransactionFact[] {
  const earlier = account.filter(({ occurredAt }) => occurredAt <= at)
  const later = account.filter(({ occurredAt }) => occurredAt > at)
  const raised = (balance: number) => Math.round(balance * 100 + cents) / 100
  const bonus: TransactionFact = {
    occurredAt: at,
    externalId: 'bonus',
    amount: cents / 100,
    currency: 'EUR',
    direction: 'credit',
    balanceAfter: raised(earlier.at(-1)?.balanceAfter ?? OPENING_CENTS / 100),
  }
  return [...earlier, bonus, ...later.map((fact) => ({ ...fact, balanceAfter: raised(fact.balanceAfter!) }))]
}

const withSalary = (month: AccountMonth, more: number): AccountMonth => ({ ...month, salary: month.salary + more })

const scoreOf = (account: TransactionFact[]) => decided(account).trace.score.total

const scorecardOf = (account: TransactionFact[]) => decided(account).trace.scorecard

function decided(account: TransactionFact[]) {
  const state = applyTransactions(emptyState(), account)
  const request = { product: 'default', requestedAmount: 2000, currency: 'EUR' }
  return decide(policy, deriveFacts({ state, entity: {}, request, now: NOW }))
}

function withFact({ features }: Facts, name: string, fact: Fact): Facts {
  return { format: 1, features: { ...features, [name]: fact } }
}
