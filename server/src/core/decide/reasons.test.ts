import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { editedPolicy, ruleOf, snapshotInput } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import type { Fact, Facts, MissingBecause } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { decide } from './decide.ts'

const policy = sandboxPolicy()

describe('a decision', () => {
  it('gives the reason of a knock-out first', () => {
    const { verdict, reasons } = decide(policy, factsFrom({ ...GOOD, 'history.abuse': 1 }))
    assert.equal(verdict, 'decline')
    assert.equal(reasons[0]?.code, 'abuse_on_record')
  })

  it('gives shortfalls as reasons for a knock-out only if the score would have declined as well', () => {
    const lean = { ...GOOD, 'history.abuse': 1, 'cashflow.lowest_income_to_outflow': 0.1 }
    const codesOf = (values: Record<string, number | string>) =>
      decide(policy, factsFrom(values))
        .reasons.filter(({ impact }) => impact === 'negative')
        .map(({ code }) => code)
    assert.deepEqual(codesOf(lean), ['abuse_on_record'])
    const weak = { ...lean, 'cashflow.low_balance_share': 1, 'cashflow.outflow_to_income': 2 }
    const poor = { ...weak, 'cashflow.reserve': -10, 'identity.verified_strong': 0 }
    assert.deepEqual(codesOf(poor), [
      'abuse_on_record',
      'low_reserves',
      'low_balance_after_payments',
      'identity_not_verified',
    ])
  })

  it('does not give the shortfall of a group that the reason of a rule covers', () => {
    const facts = factsFrom({
      'cashflow.overdrawn_days_90': 9,
      'cashflow.overdrawn_days_365': 9,
      'cashflow.low_balance_share': 1,
      'history.late': 2,
    })
    const { reasons, trace } = decide(policy, facts)
    assert.ok(trace.score.total < trace.score.cutoff)
    assert.equal(reasons[0]?.code, 'account_overdrawn')
    assert.ok(!reasons.some(({ code }) => code === 'overdrafts'))
  })

  it('gives the cause of missing data: consent revoked, another currency, or no data', () => {
    const codesWith = (because: MissingBecause) => {
      const cashflow = Object.keys(GOOD).filter((name) => name.startsWith('cashflow.'))
      const facts = cashflow.reduce((all, name) => withFact(all, name, { missing: because }), factsFrom(GOOD))
      return decide(policy, facts).reasons.map(({ code }) => code)
    }
    assert.ok(codesWith('no_data').includes('transactions_missing'))
    assert.ok(codesWith('stale').includes('transactions_missing'))
    for (const because of ['consent_revoked', 'consent_expired'] as const) {
      assert.ok(codesWith(because).includes('transactions_withheld'))
      assert.ok(!codesWith(because).includes('transactions_missing'))
    }
    assert.ok(codesWith('other_currency').includes('transactions_in_other_currency'))
    assert.ok(!codesWith('other_currency').includes('balances_missing'))
  })

  it('does not give a condition as a reason for a decline', () => {
    const { reasons } = decide(
      policy,
      factsFrom({ ...GOOD, 'history.abuse': 1, 'consent.credit_underwriting': 'none' }),
    )
    assert.ok(!reasons.some(({ code }) => code === 'consent_missing'))
  })
})

describe('a single point', () => {
  const member = (id: string) => ({
    id,
    feature: `snapshot.${id}`,
    group: 'pair',
    reference: 0,
    spread: 1,
    bins: [{ below: 0, points: -1 }, { below: 1, points: 0 }, { points: 1 }],
    missing: 0,
    shortfall: { code: `${id}_low`, label: `${id} is low` },
    strength: { code: `${id}_high`, label: `${id} is high` },
  })
  const pointsRule = (points: number) =>
    ruleOf({
      id: points > 0 ? 'point_for' : 'point_against',
      when: `snapshot.rule == ${points}`,
      action: 'points',
      points,
    })
  const paired = editedPolicy(({ inputs, rules, scorecard }) => ({
    inputs: [
      ...inputs,
      ...['left', 'right', 'rule'].map((name) => ({ ...snapshotInput(name), missing: 'transactions_missing' })),
    ],
    rules: [...rules, pointsRule(1), pointsRule(-1)],
    scorecard: { ...scorecard, characteristics: [...scorecard.characteristics, member('left'), member('right')] },
    reasons: { negative_max: 20, positive_max: 20 },
  }))
  const codesWith = (values: Record<string, number>) =>
    decide(paired, factsFrom({ ...GOOD, ...values }))
      .reasons.map(({ code }) => code)
      .filter((code) => /^(left|right|point)_/.test(code))

  it('makes a shortfall and a strength', () => {
    assert.deepEqual(codesWith({ 'snapshot.left': -1, 'snapshot.right': 0 }), ['left_low'])
    assert.deepEqual(codesWith({ 'snapshot.left': 0, 'snapshot.right': 1 }), ['right_high'])
    assert.deepEqual(codesWith({ 'snapshot.left': 0, 'snapshot.right': 0 }), [])
  })

  it('of shortfall keeps the strength of another in its group from being a reason', () => {
    assert.deepEqual(codesWith({ 'snapshot.left': -1, 'snapshot.right': 1 }), ['left_low'])
  })

  it('that a rule adds or takes is a reason', () => {
    assert.deepEqual(codesWith({ 'snapshot.rule': 1 }), ['point_for'])
    assert.deepEqual(codesWith({ 'snapshot.rule': -1 }), ['point_against'])
  })
})

function withFact({ features }: Facts, name: string, fact: Fact): Facts {
  return { format: 1, features: { ...features, [name]: fact } }
}
