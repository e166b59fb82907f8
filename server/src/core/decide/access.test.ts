import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { arbitraryFacts } from '../../../tests/arbitrary-facts.ts'
import { GOLDEN_NOW, goldenCases } from '../../../tests/golden-states.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { deriveFacts } from '../facts/derive-facts.ts'
import { type EntityState, emptyState } from '../facts/entity-state.ts'
import type { Facts } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { decide } from './decide.ts'
import { describeDecision } from './describe-decision.ts'
import { explainDecision } from './explain-decision.ts'

const policy = sandboxPolicy()

function described(facts: Facts) {
  const evaluation = decide(policy, facts)
  const named = { id: 'dec_1', environment: 'sandbox' as const, requestId: 'req_1', decidedAt: GOLDEN_NOW }
  return { ...describeDecision({ ...named, evaluation, policy }), trace: evaluation.trace }
}

/** The answer to a request for access by an applicant in some state. */
function accessOf(state: EntityState, one: ReturnType<typeof goldenCases>[0][number]) {
  const facts = deriveFacts({ state, entity: one.entity, request: { product: 'access' }, now: GOLDEN_NOW })
  const { verdict, tier, reasons, conditions } = decide(policy, facts)
  return { verdict, tier, reasons, conditions }
}

describe('access without credit', () => {
  it('has a tier, and neither a confidence nor a probability of repayment, a limit or a price', () => {
    fc.assert(
      fc.property(arbitraryFacts, ({ features }) => {
        const facts: Facts = { format: 1, features: { ...features, 'request.amount': { missing: 'not_requested' } } }
        const { trace, ...decision } = described(facts)
        for (const name of ['confidence', 'repayment_probability', 'recommended_limit'])
          assert.equal(name in decision, false, name)
        assert.ok(decision.risk_tier)
        assert.deepEqual([trace.confidence, trace.score.bad_ppm, trace.limit], [null, null, null])
        const { requested, applied, is_fallback, ...terms } = explainDecision(policy, facts).product
        assert.deepEqual(new Set(Object.values(terms)), new Set([null]))
      }),
    )
  })

  it('is decided without bank data: the same with any account and with none', () => {
    const [cases] = goldenCases()
    const none = emptyState().cashflow
    const withAccount = cases.filter(({ state }) => JSON.stringify(state.cashflow) !== JSON.stringify(none))
    assert.ok(withAccount.length > 300)
    const tiers = new Set<string>()
    for (const one of withAccount) {
      const answer = accessOf(one.state, one)
      assert.deepEqual(answer, accessOf({ ...one.state, cashflow: none }, one))
      tiers.add(answer.tier)
    }
    assert.ok(tiers.size > 2, 'identity and history tell them apart')
  })

  it('has a better tier with more verified identity and with a better history', () => {
    const score = (facts: Record<string, number>) => decide(policy, factsFrom(facts)).trace.score.total
    const verified = { 'identity.verified_strong': 2 }
    assert.ok(score({ 'identity.verified_strong': 0 }) < score(verified))
    assert.ok(score(verified) < score({ ...verified, 'history.repaid': 1 }))
    assert.ok(score({ ...verified, 'history.late': 1 }) < score(verified))
  })
})

it('credit has a confidence, whatever is known', () => {
  const { trace, ...decision } = described(factsFrom({ 'request.amount': 500, 'request.currency': 'EUR' }))
  assert.equal(decision.confidence, Math.floor(trace.confidence!.ppm / 100) / 10_000)
})
