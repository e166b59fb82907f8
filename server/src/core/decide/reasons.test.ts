import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { editedPolicy, ruleOf, snapshotInput } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import type { Fact, Facts, MissingBecause } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import type { PolicyDocument, PolicyMeaning } from '../policy/policy-document.ts'
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
    const weak = { ...lean, 'cashflow.lowest_balance': -10, 'cashflow.outflow_to_income': 2 }
    const poor = { ...weak, 'identity.verified_strong': 0 }
    assert.deepEqual(codesOf(poor), [
      'abuse_on_record',
      'low_reserves',
      'spends_more_than_income',
      'identity_not_verified',
    ])
  })

  it('does not give the shortfall of a group that the reason of a rule covers', () => {
    const facts = factsFrom({
      'cashflow.overdrawn_days_90': 9,
      'cashflow.overdrawn_days_365': 9,
      'cashflow.outflow_to_income': 2,
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

/** A scorecard of three characteristics, so that a test knows what each of them costs. */
function threeFacts(edit: Partial<PolicyDocument> = {}) {
  const scored = (name: string, spread: number) => ({
    id: name,
    label: `How ${name} it is`,
    feature: `snapshot.${name}`,
    group: name,
    reference: 10,
    spread,
    bins: [{ below: 1, points: 0 }, { below: 2, points: 10 }, { points: 10 + spread }],
    missing: 10,
    shortfall: { code: `${name}_low`, label: `Not ${name}` },
    strength: { code: `${name}_high`, label: `Very ${name}` },
  })
  return editedPolicy(({ inputs, scorecard, verdicts, limit }) => ({
    missing_reasons: ['warm', 'wide', 'old', 'told'].map((name) => ({ code: `${name}_missing`, label: `${name}?` })),
    inputs: [
      ...inputs.map(({ feature, type }) => ({ feature, type, weight: 0 })),
      ...['warm', 'wide', 'old'].map((name) => ({ ...snapshotInput(name), weight: 1, missing: `${name}_missing` })),
      { ...snapshotInput('told'), weight: 0, missing: 'told_missing' },
      snapshotInput('it'),
    ],
    rules: [RULE],
    scorecard: {
      ...scorecard,
      base: verdicts.cutoff - 30,
      spread: 5,
      characteristics: [scored('warm', 20), scored('wide', 40), scored('old', 30)],
    },
    limit: { ...limit, terms: [{ term: 'enough', amount: '1000000', reason: limit.terms[0]!.reason }] },
    ...edit,
  }))
}

const RULE = ruleOf({ id: 'against', when: 'snapshot.it > 1', action: 'manual_review' })
const ALL_HIGH = { 'snapshot.warm': 2, 'snapshot.wide': 2, 'snapshot.old': 2, 'snapshot.told': 1 }
const CREDIT = { 'request.amount': 6000, 'request.currency': 'EUR' }

describe('a meaning', () => {
  const decided = (meanings: PolicyMeaning[], values: Record<string, number>) =>
    decide(threeFacts({ meanings }), factsFrom({ ...ALL_HIGH, ...CREDIT, ...values }))
  const codesOf = (...given: Parameters<typeof decided>) => decided(...given).reasons.map(({ code }) => code)

  it('keeps a positive reason from being given where it does not hold, or may not', () => {
    assert.ok(codesOf([], {}).includes('warm_high'))
    assert.ok(codesOf([{ code: 'warm_high', means: 'snapshot.warm >= 2' }], {}).includes('warm_high'))
    assert.ok(!codesOf([{ code: 'warm_high', means: 'snapshot.warm > 2' }], {}).includes('warm_high'))
    assert.ok(!codesOf([{ code: 'warm_high', means: 'snapshot.it > 0' }], {}).includes('warm_high'))
  })

  it('never takes a negative reason away', () => {
    const meanings = [{ code: 'against', means: 'snapshot.warm > 99' }]
    assert.equal(codesOf(meanings, { 'snapshot.it': 2 })[0], 'against')
  })

  it('names another reason to give in its place, at the same node', () => {
    const instead = [
      { when: 'snapshot.it > 8', code: 'first', label: 'The first' },
      { when: 'snapshot.it > 4', code: 'second', label: 'The second' },
    ]
    const meanings = [{ code: 'against', means: 'snapshot.it > 1', instead }]
    const givenAt = (value: number) => decided(meanings, { 'snapshot.it': value }).reasons[0]
    const node = 'rule_trace/against'
    assert.deepEqual(givenAt(2), { code: 'against', impact: 'negative', label: RULE.reason.label, node })
    assert.deepEqual(givenAt(5), { code: 'second', impact: 'negative', label: 'The second', node })
    assert.deepEqual(givenAt(9), { code: 'first', impact: 'negative', label: 'The first', node })
  })

  it('keeps a positive reason away from a negative one of the same group, and from no other', () => {
    const given = (groups: string[], value: number) =>
      codesOf([{ code: 'against', means: 'snapshot.it > 1', groups }], { 'snapshot.it': value })
    assert.ok(given(['wide', 'warm'], 1).includes('warm_high'))
    assert.ok(!given(['wide', 'warm'], 2).includes('warm_high'))
    assert.ok(given(['wide'], 2).includes('warm_high'))
    assert.ok(!given(['wide'], 2).includes('wide_high'))
  })

  it('of what is given in its place speaks about the same', () => {
    const instead = [{ when: 'snapshot.it > 4', code: 'second', label: 'The second' }]
    const meanings = [{ code: 'against', means: 'snapshot.it > 1', groups: ['wide'], instead }]
    assert.deepEqual(codesOf(meanings, { 'snapshot.it': 5 }), ['second', 'old_high', 'warm_high'])
  })

  it('reads the figures of the request though they are no inputs', () => {
    const meanings = [{ code: 'warm_high', means: 'request.amount == 6000 && request.instalment > 280' }]
    assert.ok(codesOf(meanings, {}).includes('warm_high'))
    assert.ok(!codesOf(meanings, { 'request.amount': 6001 }).includes('warm_high'))
    assert.ok(!codesOf([{ code: 'warm_high', means: 'request.instalment > 290' }], {}).includes('warm_high'))
  })
})

describe('a verdict that is not certain', () => {
  const negativeOf = (edit: Partial<PolicyDocument>, values: Record<string, number>) => {
    const { verdict, trace, reasons } = decide(threeFacts(edit), factsFrom({ ...CREDIT, ...values }))
    return {
      settled: `${verdict} by ${trace.settled_by}`,
      negative: reasons.filter(({ impact }) => impact === 'negative'),
    }
  }
  const { verdicts, reasons } = editedPolicy({}).document
  const LENIENT = { verdicts: { ...verdicts, completeness_min_ppm: 0 } }

  it('names what is not known, the most uncertain first, though it costs no points, and then what falls short', () => {
    const { settled, negative } = negativeOf(LENIENT, { 'snapshot.warm': 0 })
    assert.equal(settled, 'manual_review by confidence')
    assert.deepEqual(
      negative.map(({ code }) => code),
      ['wide_missing', 'old_missing', 'warm_low'],
    )
  })

  it('names what falls short if all is known', () => {
    const { settled, negative } = negativeOf(LENIENT, { 'snapshot.warm': 0, 'snapshot.wide': 1, 'snapshot.old': 1 })
    assert.equal(settled, 'decline by score')
    const near = { ...verdicts, cutoff: verdicts.cutoff - 9 }
    const uncertain = negativeOf({ verdicts: near }, { 'snapshot.warm': 0, 'snapshot.wide': 1, 'snapshot.old': 1 })
    assert.equal(uncertain.settled, 'manual_review by confidence')
    for (const { code } of [...negative, ...uncertain.negative]) assert.equal(code, 'warm_low')
  })

  it('names, for want of any other reason, what is furthest from its best', () => {
    const middling = { 'snapshot.warm': 2, 'snapshot.wide': 1, 'snapshot.old': 1, 'snapshot.told': 1 }
    const near = { ...verdicts, cutoff: verdicts.cutoff + 20 }
    const few_strengths = { code: 'weak', label: 'Little in favour: {facts}' }
    const { settled, negative } = negativeOf({ verdicts: near, reasons: { ...reasons, few_strengths } }, middling)
    assert.equal(settled, 'manual_review by confidence')
    const label = 'Little in favour: How wide it is; How old it is'
    assert.deepEqual(negative, [{ code: 'weak', impact: 'negative', label, node: 'scorecard' }])
    const declined = negativeOf({ verdicts: { ...near, cutoff: near.cutoff + 30 } }, middling)
    assert.equal(declined.settled, 'decline by score')
    assert.match(
      declined.negative[0]?.label ?? '',
      /^Too few clear strengths, most of all in: How wide it is; How old it is$/,
    )
  })

  it('of completeness names the inputs that weigh most, also those that are not scored', () => {
    const { document } = threeFacts()
    const inputs = document.inputs.map((one) => (one.feature === 'snapshot.told' ? { ...one, weight: 9 } : one))
    const { settled, negative } = negativeOf({ inputs }, { 'snapshot.warm': 1, 'snapshot.wide': 1 })
    assert.equal(settled, 'manual_review by completeness')
    assert.deepEqual(
      negative.map(({ code, node }) => [code, node]),
      [
        ['told_missing', 'completeness'],
        ['old_missing', 'scorecard/old'],
      ],
    )
  })
})

it('an approval for which nothing speaks by itself says that nothing speaks against it', () => {
  const { reasons } = editedPolicy({}).document
  const nothing_against = { code: 'clear', label: 'Nothing is against it' }
  const given = (edit: Partial<PolicyDocument['reasons']>) =>
    decide(threeFacts({ reasons: { ...reasons, ...edit } }), factsFrom({ ...ALL_HIGH, ...CREDIT }))
  const silent = given({ positive_max: 0, nothing_against })
  assert.equal(silent.verdict, 'approve')
  assert.deepEqual(silent.reasons, [
    { code: 'clear', impact: 'positive', label: 'Nothing is against it', node: 'rule_trace' },
  ])
  assert.ok(!given({ nothing_against }).reasons.some(({ code }) => code === 'clear'))
})

function withFact({ features }: Facts, name: string, fact: Fact): Facts {
  return { format: 1, features: { ...features, [name]: fact } }
}
