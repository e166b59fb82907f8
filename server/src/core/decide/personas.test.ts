import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Persona, type PersonaExpectation, personas } from '../../../tests/personas.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { deriveFacts } from '../facts/derive-facts.ts'
import {
  applyConsent,
  applyFeatureSnapshot,
  applyIdentityLink,
  applyTransactions,
  type EntityState,
  emptyState,
} from '../facts/entity-state.ts'
import { decide } from './decide.ts'
import type { Evaluation } from './evaluation.ts'

// The verdict must not depend on the day of the month or the time of the year.
const NOWS = [
  '2026-01-15T12:00:00.000Z',
  '2026-02-28T23:59:59.999Z',
  '2026-07-01T00:00:00.000Z',
  '2027-12-31T08:30:00.000Z',
]

const policy = sandboxPolicy()

describe('the personas of sandbox-policy-v1', () => {
  for (const now of NOWS) {
    for (const persona of personas(now)) {
      it(`${persona.name} on ${now.slice(0, 10)}: ${persona.expect.verdicts.join(' or ')}`, () => {
        assertExpected(persona, decide(policy, factsOf(persona, now)))
      })
    }
  }
})

it('facts are derived without a change of the state, which decisions about one entity share', () => {
  const [now] = NOWS as [string]
  for (const persona of personas(now)) {
    const state = stateOf(persona, now)
    const before = JSON.stringify(state)
    factsOf(persona, now, state)
    assert.equal(JSON.stringify(state), before, persona.name)
  }
})

describe('prime with old transactions', () => {
  for (const [years, months] of [
    [0, 8],
    [1, 2],
    [5, 0],
  ] as const) {
    it(`is reviewed after ${years} years and ${months} months, and never approved`, () => {
      const seen = '2026-01-15T12:00:00.000Z'
      const now = new Date(Date.UTC(2026 + years, months, 15, 12)).toISOString()
      const { verdict, reasons, limit } = decide(policy, factsOf(personas(seen)[0]!, now))
      assert.equal(verdict, 'manual_review')
      assert.equal(limit, null)
      assert.ok(reasons.some(({ code }) => code === 'transactions_missing'))
    })
  }
})

describe('bad company with a revoked consent', () => {
  for (const category of ['graph', 'identity'] as const) {
    it(`for ${category} is still reviewed`, () => {
      const now = NOWS[0]!
      const persona = personas(now).find(({ name }) => name === 'bad company')!
      const revoked = {
        purpose: 'credit_underwriting',
        status: 'revoked',
        dataCategories: [category],
        grantedAt: now,
      } as const
      const state = applyConsent(stateOf(persona, now), revoked)
      const request = { product: 'personal_loan', requestedAmount: 6000, currency: 'EUR' }
      const { verdict, reasons } = decide(policy, deriveFacts({ state, entity: persona.entity, request, now }))
      assert.equal(verdict, 'manual_review')
      assert.ok(reasons.some(({ code }) => code === `${category}_withheld`))
    })
  }
})

function factsOf({ entity, underwrite, ...persona }: Persona, now: string, state = stateOf(persona, now)) {
  const { product, requested_amount: requestedAmount, currency } = underwrite
  const request = {
    product,
    ...(requestedAmount !== undefined && { requestedAmount }),
    ...(currency !== undefined && { currency }),
  }
  return deriveFacts({ state, entity, request, now })
}

function stateOf(persona: Omit<Persona, 'entity' | 'underwrite'>, now: string): EntityState {
  let state = emptyState()
  for (const { identifier, verification } of persona.identityLinks) {
    const { status, verified_at: verifiedAt } = verification
    const verified = { status, ...(verifiedAt !== undefined && { verifiedAt }) }
    const identity = { type: identifier.type, hash: Buffer.from(identifier.value).toString('hex') }
    state = applyIdentityLink(state, { identifier: identity, verification: verified, createdAt: now })
  }
  for (const { purpose, status, data_categories, granted_at } of persona.consents) {
    state = applyConsent(state, { purpose, status, dataCategories: data_categories, grantedAt: granted_at })
  }
  for (const { source, as_of, features } of persona.featureSnapshots) {
    state = applyFeatureSnapshot(state, { source, asOf: as_of, features })
  }
  const transactions = persona.transactions.map(({ external_id, occurred_at, balance_after, ...transaction }) => ({
    ...transaction,
    externalId: external_id,
    occurredAt: occurred_at,
    balanceAfter: balance_after,
  }))
  state = applyTransactions(state, transactions)
  // A verified shared identifier (strength 0.9) with an entity of one default (track record ½) is an exposure of 0.45.
  const exposed = { ...state.graph, negativeExposure: 0.45, negativeExposureWithoutPayments: 0.45, evidenceCount: 1 }
  return persona.associate ? { ...state, graph: exposed } : state
}

function assertExpected({ expect, underwrite }: Persona, evaluation: Evaluation): void {
  const seen = JSON.stringify({ ...evaluation, trace: { ...evaluation.trace, rule_trace: undefined } })
  assert.ok(expect.verdicts.includes(evaluation.verdict), seen)
  assertIncludes(expect.reasonsAnyOf, evaluation.reasons, seen)
  assertIncludes(expect.conditionsAnyOf, evaluation.conditions, seen)
  if (expect.tierStartsWith) assert.ok(evaluation.tier.startsWith(expect.tierStartsWith), seen)
  if (expect.confidenceBelow) assert.ok(evaluation.trace.confidence!.ppm < expect.confidenceBelow * 1e6, seen)
  assertLimit(expect.limit, evaluation.limit, underwrite.requested_amount ?? 0)
}

function assertIncludes(anyOf: readonly string[] | undefined, actual: readonly { code: string }[], seen: string): void {
  if (anyOf)
    assert.ok(
      actual.some(({ code }) => anyOf.includes(code)),
      seen,
    )
}

function assertLimit(expected: PersonaExpectation['limit'], limit: number | null, requested: number): void {
  if (expected === 'absent') assert.equal(limit, null)
  if (expected === 'at_least_requested') assert.ok(limit !== null && limit >= requested)
  if (expected === 'below_requested') assert.ok(limit !== null && limit > 0 && limit < requested)
}
