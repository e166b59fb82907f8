import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { ask, codesOf } from '../../../tests/ask-policy.ts'
import { editedPolicy, ruleOf, type TestRule } from '../../../tests/edited-policy.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { decide } from './decide.ts'

describe('rules after the score', () => {
  const withRule = (...rules: TestRule[]) =>
    editedPolicy(({ inputs }) => ({
      inputs: [...inputs, { feature: 'request.amount', type: 'number', weight: 0 }],
      after_score: rules.map((rule) => ruleOf(rule)),
    }))

  it('see the score, the tier, the probability and the limit', () => {
    for (const when of [
      'score.total == 613',
      'tier.name == "A-"',
      'score.probability > 0.96 && score.bad_probability < 0.04',
      'limit.amount >= 6000',
      'product.annual_rate == 0.12',
      'product.term_months == 24',
      'product.annuity_factor > 21 && product.annuity_factor < 22',
      'currency.per_reference == 1',
      'tier.cap > 0 && tier.balance_multiple > 0 && tier.cap > tier.balance_multiple',
    ])
      assert.equal(ask(withRule({ id: 'it', when, action: 'manual_review' })).trace.settled_by, 'review_rule', when)
  })

  it('decline before any review, and name the shortfalls of the score that they read', () => {
    const policy = withRule(
      { id: 'too_risky', when: 'score.probability < 0.99', action: 'decline' },
      { id: 'look', when: 'score.total > 0', action: 'manual_review' },
    )
    const decision = ask(policy, { 'history.late': 1 })
    assert.equal(decision.verdict, 'decline')
    assert.deepEqual(codesOf(decision).slice(0, 2), ['too_risky', 'paid_late'])
  })

  it('that decline a large amount leave a counter-offer of a smaller one', () => {
    const policy = withRule({ id: 'too_much', when: 'request.amount > 4000', action: 'decline' })
    const { verdict, limit, reasons, conditions } = ask(policy)
    assert.deepEqual([verdict, limit], ['approve_with_conditions', 4000])
    assert.ok(codesOf({ reasons }).includes('too_much'))
    assert.deepEqual(
      conditions.map(({ code }) => code),
      ['reduced_amount'],
    )
  })

  it('name the shortfalls only if they read what follows from the score', () => {
    const late = { 'history.late': 1 }
    for (const when of ['segment.name == ""', 'currency.per_reference > 0', 'product.annual_rate > 0']) {
      const decision = ask(withRule({ id: 'it', when, action: 'decline' }), late)
      assert.deepEqual([decision.trace.settled_by, codesOf(decision).includes('paid_late')], ['knock_out', false], when)
    }
    const byTier = ask(withRule({ id: 'it', when: 'tier.name != "A+"', action: 'decline' }), late)
    assert.ok(codesOf(byTier).includes('paid_late'))
  })

  it('that decline by the limit name the term that made it so low, and not a cap that came later', () => {
    const policy = withRule(
      { id: 'lower', when: 'limit.amount < 1000', action: 'cap', cap: '60' },
      { id: 'too_little', when: 'limit.amount < 1000', action: 'decline' },
    )
    const decision = ask(policy, { 'cashflow.monthly_debt_service': 1280 })
    const negative = decision.reasons.filter(({ impact }) => impact === 'negative').map(({ code }) => code)
    assert.deepEqual([decision.verdict, negative], ['decline', ['too_little', 'debt_too_high']])
  })

  it('have no part in access without credit', () => {
    const { 'request.amount': _, 'request.currency': __, ...access } = GOOD
    const policy = withRule({ id: 'it', when: 'score.total > 0', action: 'decline' })
    assert.equal(decide(policy, factsFrom(access)).verdict, 'approve')
  })
})
