import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, codesOf } from '../../../tests/ask-policy.ts'
import { editedPolicy, ruleOf, snapshotInput } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'

describe('the actions of rules', () => {
  it('cap the limit, and give their reason where they bind', () => {
    const capped = editedPolicy(({ rules }) => ({
      rules: [
        ...rules,
        ruleOf({
          id: 'new_customer',
          when: 'history.repaid == 0',
          action: 'cap',
          cap: '2500 * currency.per_reference',
        }),
      ],
    }))
    const decision = ask(capped)
    assert.deepEqual([decision.verdict, decision.limit], ['approve_with_conditions', 2500])
    assert.equal(decision.trace.limit?.binding, 'new_customer')
    assert.equal(codesOf(decision)[0], 'new_customer')
    assert.ok(!codesOf(ask(capped, { 'request.amount': 1000 })).includes('new_customer'))
    assert.equal(ask(capped, { 'history.repaid': 1 }).limit, 6000)
  })

  it('cap the limit after the score too, and leave it unknown if the bound is', () => {
    const policy = editedPolicy(({ inputs }) => ({
      inputs: [...inputs, snapshotInput('collateral')],
      after_score: [
        ruleOf({
          id: 'secured',
          when: 'score.total < 700',
          action: 'cap',
          cap: 'min(limit.amount, snapshot.collateral)',
        }),
      ],
    }))
    assert.equal(ask(policy, { 'snapshot.collateral': 3000 }).limit, 3000)
    const unknown = ask(policy)
    assert.deepEqual(
      [unknown.trace.settled_by, unknown.trace.limit?.missing],
      ['limit_unknown', ['snapshot.collateral']],
    )
  })

  it('add points to the score, and rank with its shortfalls and strengths', () => {
    const withPoints = (points: number) =>
      editedPolicy(({ rules }) => ({
        rules: [...rules, ruleOf({ id: 'adjusted', when: 'history.repaid == 0', action: 'points', points })],
      }))
    const plain = ask(sandboxPolicy())
    const better = ask(withPoints(40))
    assert.equal(better.trace.score.total, plain.trace.score.total + 40)
    assert.equal(better.trace.score.rule_points, 40)
    assert.equal(better.trace.rule_trace.at(-1)?.points, 40)
    assert.equal(better.reasons.find(({ impact }) => impact === 'positive')?.code, 'adjusted')
    const worse = ask(withPoints(-90))
    assert.equal(worse.verdict, 'decline')
    assert.equal(codesOf(worse)[0], 'adjusted')
  })

  it('leave a confident decline open while an undecided rule might add the points', () => {
    const policy = editedPolicy(({ inputs, rules }) => ({
      inputs: [...inputs, snapshotInput('bonus')],
      rules: [
        ...rules,
        ruleOf({ id: 'malus', when: 'history.repaid == 0', action: 'points', points: -90 }),
        ruleOf({ id: 'bonus', when: 'snapshot.bonus > 0', action: 'points', points: 90 }),
      ],
    }))
    assert.equal(ask(policy).verdict, 'manual_review')
    assert.equal(ask(policy, { 'snapshot.bonus': 1 }).verdict, 'approve')
    assert.equal(ask(policy, { 'snapshot.bonus': 0 }).verdict, 'decline')
  })

  it('do not decline with confidence by points for what is missing, however the rule asks for it', () => {
    const withRule = (when: string, points: number) =>
      editedPolicy(({ inputs, rules }) => ({
        inputs: [...inputs, snapshotInput('x')],
        derived: [{ feature: 'derived.has_x', type: 'boolean', value: 'has(snapshot.x)' }],
        rules: [...rules, ruleOf({ id: 'it', when, action: 'points', points })],
        verdicts: { ...sandboxPolicy().document.verdicts, cutoff: points > 0 ? 704 : 550 },
      }))
    for (const [when, points] of [
      ['!has(snapshot.x)', -300],
      ['missing_because(snapshot.x) != ""', -300],
      ['!derived.has_x', -300],
      ['has(snapshot.x)', 300],
    ] as const) {
      const { verdict, trace } = ask(withRule(when, points))
      assert.deepEqual([verdict, trace.confidence!.decline_ppm], ['manual_review', 0], when)
      assert.equal(ask(withRule(when, points), { 'snapshot.x': 1 }).verdict, 'approve', when)
    }
    const known = withRule('history.repaid == 0 || snapshot.x > 0', -300)
    assert.equal(ask(known).verdict, 'decline', 'no value of x changes it')
  })
})
