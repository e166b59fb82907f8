import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { ask, codesOf, type Values } from '../../../tests/ask-policy.ts'
import { editedPolicy, ruleOf, snapshotInput } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson, orderedJson } from '../canonical-json.ts'
import { known, type MissingBecause } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { decide } from './decide.ts'

describe('derived features', () => {
  const policy = editedPolicy(({ inputs, scorecard, rules }) => ({
    inputs: [
      ...inputs,
      snapshotInput('salary'),
      snapshotInput('bureau.debt'),
      { feature: 'request.instalment', type: 'number', weight: 0 },
    ],
    derived: [
      { feature: 'derived.left', type: 'number', value: 'snapshot.salary - snapshot.bureau.debt' },
      { feature: 'derived.burden', type: 'number', value: 'snapshot["bureau.debt"] / derived.left' },
      {
        feature: 'derived.per_instalment',
        type: 'number',
        value: 'derived.left / request.instalment',
        missing: 'transactions_missing',
      },
    ],
    rules: [...rules, ruleOf({ id: 'burdened', when: 'derived.burden > 0.5', action: 'manual_review' })],
    scorecard: {
      ...scorecard,
      characteristics: [
        ...scorecard.characteristics,
        {
          id: 'left',
          feature: 'derived.per_instalment',
          group: 'left',
          reference: 0,
          spread: 5,
          bins: [{ below: 2, points: -5 }, { points: 5 }],
          missing: 0,
          shortfall: { code: 'little_left', label: 'Little of the salary is left after debts' },
          strength: { code: 'much_left', label: 'Much of the salary is left after debts' },
        },
      ],
    },
  }))
  const derivedOf = (values: Values, causes: Record<string, MissingBecause> = {}) =>
    ask(policy, values, causes).trace.derived

  it('are computed in their order, and rules, characteristics and later ones read them', () => {
    const decision = ask(policy, { 'snapshot.salary': 3000, 'snapshot.bureau.debt': 1200 })
    assert.deepEqual(
      decision.trace.derived?.map(({ feature, value }) => [feature, value]),
      [
        ['derived.left', 1800],
        ['derived.burden', 1200 / 1800],
        ['derived.per_instalment', 1800 / 282.44],
      ],
    )
    assert.equal(decision.verdict, 'manual_review')
    assert.ok(codesOf(decision).includes('burdened'))
    assert.equal(decision.trace.scorecard.at(-1)?.points, 5)
  })

  it('are missing for the cause of the value that they lack, and never zero', () => {
    assert.deepEqual(derivedOf({ 'snapshot.bureau.debt': 1 }, { 'snapshot.salary': 'consent_revoked' })?.slice(0, 2), [
      { feature: 'derived.left', missing: 'consent_revoked', value: null },
      { feature: 'derived.burden', missing: 'consent_revoked', value: null },
    ])
    const { trace } = ask(policy, {})
    assert.equal(trace.rule_trace.find(({ rule }) => rule === 'burdened')?.holds, null)
    assert.equal(trace.scorecard.at(-1)?.missing, 'no_data')
  })

  it('do not apply if the request does not raise what they are computed from', () => {
    const { 'request.amount': _, 'request.currency': __, ...access } = GOOD
    const { trace } = decide(policy, factsFrom({ ...access, 'snapshot.salary': 1, 'snapshot.bureau.debt': 0 }))
    assert.equal(trace.derived?.at(-1)?.missing, 'not_requested')
    assert.equal(trace.scorecard.at(-1)?.bin, 'not applicable')
  })

  it('that divide by zero are missing, because no bin holds what is not a number', () => {
    assert.deepEqual(derivedOf({ 'snapshot.salary': 100, 'snapshot.bureau.debt': 100 })?.[1], {
      feature: 'derived.burden',
      missing: 'not_a_number',
      value: null,
    })
  })

  it('are as old as the oldest value that they are computed from', () => {
    const facts = factsFrom({ ...GOOD })
    facts.features['snapshot.salary'] = known(3000, 10)
    facts.features['snapshot.bureau.debt'] = known(100, 40)
    assert.equal(decide(policy, facts).trace.derived?.[0]?.age_days, 40)
  })

  it('that depend on the amount are computed again for every amount that is tried', () => {
    const reduced = ask(policy, { 'snapshot.salary': 1000, 'snapshot.bureau.debt': 0, 'request.amount': 60_000 })
    assert.equal(reduced.trace.derived?.at(-1)?.value, 1000 / 2824.41)
    assert.ok(reduced.limit! > 0 && reduced.limit! < 60_000)
  })

  it('leave a trace whose members are in order, so that it replays to the byte', () => {
    const { trace } = ask(policy, { 'snapshot.salary': 3000, 'snapshot.bureau.debt': 1200 })
    assert.equal(orderedJson(trace), canonicalJson(trace))
  })
})

describe('expressions', () => {
  const holds = (
    when: string,
    values: Values = {},
    { ageDays, causes = {} }: { ageDays?: number; causes?: Record<string, MissingBecause> } = {},
  ) => {
    const policy = editedPolicy(({ inputs }) => ({
      inputs: [
        ...inputs,
        snapshotInput('a'),
        snapshotInput('b'),
        snapshotInput('text', 'string'),
        snapshotInput('bureau.score'),
        snapshotInput('bureau..odd'),
        { feature: 'request.date', type: 'string', weight: 0 },
        { feature: 'request.hash', type: 'number', weight: 0 },
        { feature: 'cashflow.last_balance', type: 'number', weight: 0, max_age_days: 30 },
      ],
      rules: [ruleOf({ id: 'it', when, action: 'manual_review' })],
      missing_reasons: sandboxPolicy().document.missing_reasons,
    }))
    return decide(policy, factsFrom({ ...GOOD, ...values }, ageDays, causes)).trace.rule_trace[0]?.holds
  }

  it('take the smallest, the largest and the absolute value, and none of a missing one', () => {
    const values = { 'snapshot.a': -3, 'snapshot.b': 2 }
    assert.equal(holds('min(snapshot.a, snapshot.b, 5) == -3', values), true)
    assert.equal(holds('max(snapshot.a, 0, snapshot.b) == 2', values), true)
    assert.equal(holds('abs(snapshot.a) == 3', values), true)
    assert.equal(holds('max(snapshot.a, 0) >= 0', {}), null)
  })

  it('mix whole numbers and decimals in every place', () => {
    assert.equal(holds('(snapshot.a > 1 ? 1 : 0.5) == 0.5', { 'snapshot.a': 0 }), true)
    assert.equal(holds('snapshot.a in [1, 2.5, 3]', { 'snapshot.a': 3 }), true)
  })

  it('measure and match text', () => {
    const values = { 'snapshot.text': 'AT-Käse' }
    assert.equal(holds('size(snapshot.text) == 7', values), true)
    assert.equal(holds('snapshot.text.matches("^(AT|DE)-")', values), true)
    assert.equal(holds('matches(snapshot.text, "^CH")', values), false)
    assert.equal(holds('matches(snapshot.text, "^CH")'), null)
  })

  it('read names with dots, also those that only brackets can write', () => {
    assert.equal(holds('snapshot.bureau.score > 600', { 'snapshot.bureau.score': 700 }), true)
    assert.equal(holds('snapshot["bureau..odd"] > 600', { 'snapshot.bureau..odd': 700 }), true)
    assert.equal(holds('has(snapshot.bureau.score)', {}), false)
  })

  it('know the day of the decision, so that a pilot can end by itself', () => {
    const values = { 'request.date': '2026-12-24' }
    assert.equal(holds('request.date >= "2026-12-01" && request.date < "2027-01-01"', values), true)
    assert.equal(holds('request.date.matches("^....-(11|12)-")', values), true)
    assert.equal(holds('request.hash < 500', { 'request.hash': 499 }), true)
  })

  it('know why a value is missing and how old one is', () => {
    assert.equal(
      holds('missing_because(snapshot.a) == "consent_expired"', {}, { causes: { 'snapshot.a': 'consent_expired' } }),
      true,
    )
    assert.equal(holds('missing_because(snapshot.a) == ""', { 'snapshot.a': 1 }), true)
    assert.equal(
      holds(
        'missing_because(cashflow.last_balance) in ["stale", "no_data"]',
        { 'cashflow.last_balance': 1 },
        { ageDays: 31 },
      ),
      true,
    )
    assert.equal(holds('age_days(snapshot.a) > 30', { 'snapshot.a': 1 }, { ageDays: 31 }), true)
    assert.equal(holds('age_days(snapshot.a) > 30', {}), null)
  })
})

describe('bins', () => {
  it('hold sets of texts', () => {
    const policy = editedPolicy(({ inputs, missing_reasons, scorecard }) => ({
      inputs: [...inputs, { ...snapshotInput('sector', 'string'), missing: 'sector_unknown' }],
      missing_reasons: [...missing_reasons, { code: 'sector_unknown', label: 'Sector not known' }],
      scorecard: {
        ...scorecard,
        characteristics: [
          ...scorecard.characteristics,
          {
            id: 'sector',
            feature: 'snapshot.sector',
            group: 'sector',
            reference: 0,
            spread: 5,
            bins: [{ in: ['farming', 'fishing'], points: 4 }, { equals: 'mining', points: -4 }, { points: 0 }],
            missing: 0,
            shortfall: { code: 'risky_sector', label: 'Mining is a volatile sector' },
            strength: { code: 'steady_sector', label: 'Farming and fishing are steady sectors' },
          },
        ],
      },
    }))
    const lineFor = (sector: string) => ask(policy, { 'snapshot.sector': sector }).trace.scorecard.at(-1)
    assert.deepEqual([lineFor('fishing')?.points, lineFor('fishing')?.bin], [4, 'is one of farming, fishing'])
    assert.deepEqual([lineFor('mining')?.points, lineFor('other')?.points], [-4, 0])
  })
})
