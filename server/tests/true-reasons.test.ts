/** Every reason of the shipped policies is true of the facts that it is given for, and no decision contradicts itself. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deriveFacts } from '../src/core/facts/derive-facts.ts'
import {
  applyConsent,
  applyIdentityLink,
  applyTransactions,
  emptyState,
  type TransactionFact,
} from '../src/core/facts/entity-state.ts'
import type { Fact, Facts } from '../src/core/facts/facts.ts'
import { factsFrom } from '../src/core/facts/facts-from.ts'
import { findFeature } from '../src/core/facts/feature-catalogue.ts'
import { reasonsOf } from '../src/core/policy/check/check-labels.ts'
import { describeProblem } from '../src/core/policy/check/policy-problem.ts'
import { compilePolicy } from '../src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { type ApplicantTransaction, applicants } from './applicants.ts'
import { arbitraryFacts, GOOD } from './arbitrary-facts.ts'
import { bureauPolicy } from './bureau-policy.ts'
import { type Ask, drawImprovement, scalesFor, seededBelow } from './improvements.ts'
import { reasonFaults } from './reason-faults.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

const SAMPLE = 2_500
const sandbox = sandboxPolicy()

function assertTrue(policy: CompiledPolicy, facts: Facts): string[] {
  const { evaluation, untrue, unchecked, opposed, isUnexplained } = reasonFaults(policy, facts)
  const seen = () => JSON.stringify({ reasons: evaluation.reasons, facts: facts.features })
  assert.deepEqual(
    untrue.map(({ code }) => code),
    [],
    seen(),
  )
  assert.deepEqual(
    unchecked.map(({ code }) => code),
    [],
    seen(),
  )
  assert.deepEqual(
    opposed.map(([one, other]) => `${one.code} beside ${other.code}`),
    [],
    seen(),
  )
  assert.ok(!isUnexplained, seen())
  return evaluation.reasons.map(({ code }) => code)
}

/**
 * Facts as they can be: what is withheld, or in another currency only, is so for all features of its kind; spending and what
 * loans cost are known together; and no request is for less than the smallest amount that is lent.
 */
function possible({ features }: Facts): Facts {
  const causes = new Map<string, Fact>()
  const kindOf = (name: string) => findFeature(name)?.data_category ?? name
  for (const [name, fact] of Object.entries(features)) {
    const isShared = 'missing' in fact && /^(consent_|other_currency)/.test(fact.missing)
    if (isShared && !causes.has(kindOf(name))) causes.set(kindOf(name), fact)
  }
  const amount = features['request.amount']!
  const least = SMALLEST[String((features['request.currency'] as { value?: string }).value)] ?? 1
  const lent = 'value' in amount ? { value: Math.max(least, Number(amount.value)) } : amount
  const withCause = Object.entries({ ...features, 'request.amount': lent }).map(([name, fact]): [string, Fact] => [
    name,
    causes.get(kindOf(name)) ?? fact,
  ])
  const all: Facts['features'] = Object.fromEntries(withCause)
  const paid = ['cashflow.monthly_spending', 'cashflow.monthly_debt_service'] as const
  const unknown = paid.map((name) => all[name]!).find((fact) => 'missing' in fact)
  if (unknown) for (const name of paid) all[name] = unknown
  return { format: 1, features: all }
}

const SMALLEST = Object.fromEntries(sandbox.document.limit.currencies.map(({ currency, step }) => [currency, step]))

describe('the reasons of the sandbox policy are true and do not contradict each other', () => {
  for (const ask of ['credit', 'access'] satisfies Ask[])
    it(`in ${SAMPLE} drawn requests for ${ask}`, () => {
      const scales = scalesFor(sandbox)
      const below = seededBelow(20_261_119)
      const given = new Set<string>()
      for (let count = 0; count < SAMPLE; count++)
        for (const code of assertTrue(sandbox, possible(drawImprovement(below, { scales, ask }).before)))
          given.add(code)
      assert.ok(given.size > 15, `only ${[...given]} were given, so the sample shows little`)
    })

  it('on any facts', () => {
    fc.assert(
      fc.property(arbitraryFacts, (facts) => void assertTrue(sandbox, possible(facts))),
      { numRuns: SAMPLE },
    )
  })

  it('on the accounts that a credit officer judged', () => {
    const now = '2026-11-16T12:00:00.000Z'
    for (const { amount, transactions } of applicants(now)) assertTrue(sandbox, factsOfFeed(transactions, amount, now))
  })
})

/** The facts of a known customer with a consent, from a feed of transactions. */
function factsOfFeed(feed: readonly ApplicantTransaction[], amount: number | undefined, now: string): Facts {
  const dated = { verification: { status: 'verified' }, createdAt: now } as const
  const known = (['government_id', 'tax_id'] as const).reduce(
    (state, type) => applyIdentityLink(state, { identifier: { type, hash: type }, ...dated }),
    emptyState(),
  )
  const consent = { purpose: 'credit_underwriting', status: 'granted', dataCategories: [], grantedAt: now } as const
  const transactions = feed.map(
    ({
      external_id,
      occurred_at,
      balance_after,
      counterparty,
      category,
      amount,
      currency,
      direction,
    }): TransactionFact => ({
      externalId: external_id,
      occurredAt: occurred_at,
      amount,
      currency,
      direction,
      ...(balance_after !== undefined && { balanceAfter: balance_after }),
      ...(category !== undefined && { category }),
      ...(counterparty && { counterparty: counterparty.name }),
    }),
  )
  const state = applyTransactions(applyConsent(known, { ...consent, dataCategories: [] }), transactions)
  const request =
    amount === undefined
      ? { product: 'platform_access' }
      : { product: 'default', requestedAmount: amount, currency: 'EUR' }
  return deriveFacts({ state, entity: { type: 'person', country: 'DE' }, request, now })
}

it('income that stopped is named where it is why the leanest weeks were lean, or why income is not enough', () => {
  const codesOf = (values: Record<string, number>) =>
    reasonFaults(sandbox, factsFrom({ ...GOOD, ...values })).evaluation.reasons.map(({ code }) => code)
  const lean = { 'cashflow.lowest_income_to_outflow': 0.05 }
  const half = { 'cashflow.monthly_income': 2200, 'cashflow.recurring_income': 2200 }
  assert.ok(codesOf({ ...lean, ...half }).includes('lean_months'))
  const stopped = codesOf({ ...lean, ...half, 'cashflow.stopped_income': 2000 })
  assert.ok(stopped.includes('part_of_income_stopped') && !stopped.includes('lean_months'), stopped.join())
  const little = { ...half, 'cashflow.monthly_spending': 3900, 'request.amount': 30_000 }
  assert.ok(codesOf(little).includes('income_insufficient'))
  const less = codesOf({ ...little, 'cashflow.stopped_income': 2000 })
  assert.ok(less.includes('part_of_income_stopped') && !less.includes('income_insufficient'), less.join())
})

it('every reason of a shipped policy has a meaning, and none is known to be false or to be given beside its opposite', () => {
  for (const { document } of [sandbox, bureauPolicy()]) {
    const { warnings } = compilePolicy(document) as { warnings: Parameters<typeof describeProblem>[0][] }
    assert.deepEqual(warnings.map(describeProblem), [])
    const meant = new Set(document.meanings?.map(({ code }) => code))
    const last = [document.reasons.few_strengths?.code, document.reasons.nothing_against?.code]
    const silent = reasonsOf(document).filter(({ code }) => !meant.has(code) && !last.includes(code))
    assert.deepEqual(
      silent.map(({ code }) => code),
      [],
    )
  }
})
