import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import {
  doing,
  editedPolicy,
  problemsOf,
  ruleOf,
  snapshotInput,
  type TestRule,
  withTerms,
} from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson, orderedJson } from '../canonical-json.ts'
import type { FactValue, MissingBecause } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { type CompiledPolicy, ruleIdsOf } from '../policy/compile/compiled-policy.ts'
import type { PolicyTable } from '../policy/policy-document.ts'
import { decide } from './decide.ts'
import { explainDecision } from './explain-decision.ts'

type Values = Record<string, FactValue>

const ask = (policy: CompiledPolicy, values: Values = {}, causes: Record<string, MissingBecause> = {}) =>
  decide(policy, factsFrom({ ...GOOD, ...values }, undefined, causes))
const codesOf = ({ reasons }: { reasons: { code: string }[] }) => reasons.map(({ code }) => code)

describe('segments', () => {
  const policy = editedPolicy(({ inputs, scorecard, limit, products }) => ({
    inputs: [...inputs, { feature: 'entity.type', type: 'string', weight: 0 }, snapshotInput('premium', 'boolean')],
    segments: [
      {
        name: 'premium',
        when: 'snapshot.premium',
        verdicts: { cutoff: 500 },
        tiers: [{ tier: 'Gold', cap: 1_000_000, balance_multiple: 9 }],
      },
      {
        name: 'business',
        when: 'entity.type == "business"',
        scorecard: { ...scorecard, base: scorecard.base + 7 },
        products: withTerms(products, { annual_rate: 0.2 }),
        limit: { terms: [{ ...limit.terms[0]!, term: 'flat', instalment: '100' }] },
      },
    ],
  }))

  it('replace the parts that they name, and the document has the others', () => {
    const own = ask(policy)
    const business = ask(policy, { 'entity.type': 'business' })
    assert.deepEqual([own.trace.segment, business.trace.segment], [null, 'business'])
    assert.equal(business.trace.score.total, own.trace.score.total + 7)
    assert.equal(business.terms.annual_rate, 0.2)
    assert.deepEqual(
      business.trace.limit?.terms.map(({ term }) => term),
      ['flat', 'requested'],
    )
    assert.equal(business.trace.score.cutoff, 550)
  })

  it('ask rules and tables of their own after those of the document, which are asked too', () => {
    const table: PolicyTable = {
      table: 'by_late',
      label: 'Late payments',
      columns: [{ column: 'late', value: 'history.late' }],
      rows: [
        doing({ row: 'none', when: { late: { below: 1, missing: true } } }, 'none'),
        doing(
          {
            row: 'some',
            when: { late: { from: 1 } },
            reason: ruleOf({ id: 'late', when: '', action: 'decline' }).reason,
          },
          'manual_review',
        ),
      ],
    }
    const segmented = editedPolicy(({ rules, inputs }) => ({
      inputs: [...inputs, { feature: 'entity.type', type: 'string', weight: 0 }],
      rules: rules.slice(0, 2),
      segments: [
        {
          name: 'business',
          when: 'entity.type == "business"',
          rules: [ruleOf({ id: 'own', when: 'history.late > 2', action: 'decline' })],
          tables: [table],
        },
      ],
    }))
    const business = { 'entity.type': 'business', 'history.late': 3 }
    const { trace, verdict } = ask(segmented, business)
    assert.deepEqual(
      trace.rule_trace.map(({ rule, row, holds }) => [rule, row, holds]),
      [
        ['abuse_on_record', undefined, false],
        ['default_on_record', undefined, false],
        ['own', undefined, true],
        ['by_late', 'some', true],
      ],
    )
    assert.equal(verdict, 'decline')
    assert.equal(
      ask(segmented, { ...business, 'history.defaults': 1, 'history.late': 0 }).trace.settled_by,
      'knock_out',
    )
    assert.ok(!ask(segmented, { 'history.late': 3 }).trace.rule_trace.some(({ rule }) => rule === 'own'))
    assert.deepEqual(ruleIdsOf(segmented), [
      'abuse_on_record',
      'default_on_record',
      'own',
      'by_late/none',
      'by_late/some',
    ])
    const { rules } = explainDecision(segmented, factsFrom({ ...GOOD, ...business }))
    assert.deepEqual(
      rules.slice(2).map(({ when }) => when),
      ['history.late > 2', 'history.late >= 1'],
    )
  })

  it('cannot name a rule as another is named, and their rules are checked', () => {
    const own = (rule: Partial<TestRule>) => ({
      segments: [
        {
          name: 's',
          when: 'history.late > 0',
          rules: [ruleOf({ id: 'it', when: 'history.late > 1', action: 'decline', ...rule })],
        },
      ],
    })
    assert.deepEqual(problemsOf(own({})), [])
    const reason = { code: 'it', label: 'Test rule it', impact: 'negative' } as const
    assert.deepEqual(problemsOf(own({ id: 'abuse_on_record', reason })), [
      "/segments/0/rules/0: 'abuse_on_record' is there twice; rename one",
    ])
    assert.match(
      problemsOf(own({ when: 'history.lat > 1' })).join(),
      /\/segments\/0\/rules\/0\/when: rule 'it', column 1: history\.lat is not among/,
    )
    assert.match(
      problemsOf(own({ questions_data: true })).join(),
      /\/segments\/0\/rules\/0\/questions_data: rule 'it' does not ask for a review/,
    )
  })

  it('count in their order, the first whose condition holds; an undecided one does not hold', () => {
    assert.equal(ask(policy, { 'snapshot.premium': true, 'entity.type': 'business' }).terms.segment, 'premium')
    assert.equal(ask(policy, { 'entity.type': 'business' }).terms.segment, 'business')
    const premium = ask(policy, { 'snapshot.premium': true })
    assert.deepEqual([premium.tier, premium.trace.score.cutoff], ['Gold', 500])
  })
})

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

describe('prices', () => {
  const OVER = { code: 'over_maximum', label: 'Amount requested exceeds the largest amount of the product' }
  const UNDER = { code: 'under_minimum', label: 'Amount requested is below the smallest amount of the product' }
  const policy = editedPolicy(({ products, limit }) => ({
    limit: { ...limit, over_maximum: OVER, under_minimum: UNDER },
    products: [
      ...products,
      {
        product: 'card',
        term_months: 12,
        annual_rate: 0.2,
        rates: [
          { tier: 'A+', annual_rate: 0.1 },
          { tier: 'A', annual_rate: 0.12 },
          { tier: 'A-', annual_rate: 0.14 },
        ],
        fee_rate: 0.02,
        fee_amount: 30,
        minimum: 500,
        maximum: 4000,
      },
    ],
  }))
  const card = (amount: number, values: Values = {}) =>
    ask(policy, { 'request.product': 'card', 'request.amount': amount, ...values })

  it('depend on the tier, and the limit is computed at the price of the tier', () => {
    assert.deepEqual(card(2000).terms, {
      segment: null,
      product: 'card',
      requested_product: 'card',
      tier: 'A-',
      term_months: 12,
      annual_rate: 0.14,
      fee_rate: 0.02,
      fee_amount: 30,
      instalment: 185.86,
    })
    const better = card(2000, { 'history.repaid': 1 })
    assert.deepEqual([better.terms.tier, better.terms.annual_rate], ['A', 0.12])
    const worse = card(2000, { 'history.late': 3 })
    assert.deepEqual([worse.terms.tier, worse.terms.annual_rate], ['B+', 0.2], 'a tier that is not listed')
  })

  it('include fees: the instalment repays them, and the limit leaves room for them', () => {
    const { trace } = card(2000)
    // Measured before the tier is known, at the listed rate: 12 instalments at 20 %.
    assert.deepEqual(trace.request['request.instalment'], { value: 191.75 })
    const withoutRate = card(2000, { 'request.currency': 'XAU' })
    assert.deepEqual(withoutRate.trace.request['request.instalment'], { value: 191.75 })
    const income = trace.limit?.terms.find(({ term }) => term === 'debt')?.amount ?? 0
    const factor = policy.products.get('card')!.byTier!.get('A-')!.annuityFactor
    assert.equal(income, Math.floor(((0.3 * (4200 + 9000 / 60) * factor - 30) / 1.02) * 100) / 100)
  })

  it('bound the amount: more is met with the maximum, less than the minimum is declined', () => {
    const much = card(9000)
    assert.deepEqual(
      [much.verdict, much.limit, much.trace.limit?.binding],
      ['approve_with_conditions', 4000, 'maximum'],
    )
    assert.ok(codesOf(much).includes('over_maximum'))
    const little = card(400)
    assert.deepEqual(
      [little.verdict, little.trace.settled_by, codesOf(little)[0]],
      ['decline', 'no_limit_left', 'under_minimum'],
    )
    assert.equal(card(500).verdict, 'approve')
  })

  it('make no counter-offer below the minimum of the product', () => {
    const indebted = { 'cashflow.monthly_debt_service': 1280 }
    const declined = card(4000, indebted)
    const room = declined.trace.limit?.terms.find(({ term }) => term === 'debt')?.amount ?? 0
    assert.ok(room > 50 && room < 500, String(room))
    assert.deepEqual([declined.verdict, declined.limit, codesOf(declined)[0]], ['decline', null, 'debt_too_high'])
    assert.equal(ask(policy, { ...indebted, 'request.amount': 4000 }).limit, 500)
  })

  it('are those of default for a product that the policy does not list, and the terms say so', () => {
    const { terms } = ask(policy, { 'request.product': 'crad' })
    assert.deepEqual([terms.product, terms.requested_product], ['default', 'crad'])
  })
})

describe('an external probability', () => {
  const withProbability = (hasTable: boolean) =>
    editedPolicy(({ inputs, scorecard: { probability, ...scorecard } }) => ({
      inputs: [...inputs, snapshotInput('repayment')],
      scorecard: {
        ...scorecard,
        ...(hasTable && probability && { probability }),
        external_probability: 'snapshot.repayment',
      },
    }))

  it('replaces the table, in the answer and in the terms of the limit', () => {
    const { trace } = ask(withProbability(true), { 'snapshot.repayment': 0.9 })
    assert.equal(trace.score.bad_ppm, 100_000)
    assert.equal(trace.limit?.terms.find(({ term }) => term === 'expected_loss')?.amount, 25_000)
  })

  it('that is out of range is missing for that cause, and the trace says which probability counted', () => {
    const sourceOf = (hasTable: boolean, values: Values) =>
      ask(withProbability(hasTable), values).trace.score.probability_source
    assert.equal(sourceOf(true, { 'snapshot.repayment': 0.85 }), 'external')
    assert.equal(sourceOf(true, { 'snapshot.repayment': 85 }), 'table')
    assert.equal(sourceOf(false, { 'snapshot.repayment': 85 }), null)
    assert.ok(!('probability_source' in ask(sandboxPolicy()).trace.score))
    const facts = factsFrom({ ...GOOD, 'snapshot.repayment': 85 })
    const cause = { feature: 'snapshot.repayment', missing: 'out_of_range' }
    assert.deepEqual(explainDecision(withProbability(true), facts).missing_features.at(-1), cause)
    const derived = editedPolicy(({ inputs, scorecard }) => ({
      inputs: [...inputs, snapshotInput('repayment')],
      derived: [{ feature: 'derived.p', type: 'number', value: 'snapshot.repayment / 10.0' }],
      scorecard: { ...scorecard, external_probability: 'derived.p' },
    }))
    assert.deepEqual(decide(derived, facts).trace.derived, [
      { feature: 'derived.p', missing: 'out_of_range', value: null },
    ])
    const { trace } = ask(derived, { 'snapshot.repayment': 8.5 })
    assert.equal(trace.score.probability_source, 'external')
    assert.equal(orderedJson(trace), canonicalJson(trace))
  })

  it('that is missing or no probability leaves the table, and without a table the limit unknown', () => {
    assert.equal(ask(withProbability(true)).trace.score.bad_ppm, ask(sandboxPolicy()).trace.score.bad_ppm)
    for (const values of [{}, { 'snapshot.repayment': 90 }]) {
      const { verdict, trace } = ask(withProbability(false), values)
      assert.deepEqual([verdict, trace.settled_by, trace.score.bad_ppm], ['manual_review', 'limit_unknown', null])
      assert.deepEqual(trace.limit?.missing, ['snapshot.repayment'])
    }
  })
})

it('a value that does not age leaves the score as certain as the model, whatever its spread', () => {
  const policy = editedPolicy(({ scorecard }) => ({
    scorecard: {
      ...scorecard,
      characteristics: scorecard.characteristics.map((one) => ({ ...one, spread: 1000 })),
    },
  }))
  assert.equal(ask(policy).trace.confidence!.variance, policy.document.scorecard.spread ** 2)
})

it('a cutoff above the references declines with the factors furthest from their best', () => {
  const policy = editedPolicy(({ verdicts }) => ({ verdicts: { ...verdicts, cutoff: 660 } }))
  const decision = ask(policy)
  assert.deepEqual([decision.verdict, decision.trace.settled_by], ['decline', 'score'])
  assert.ok(decision.reasons.some(({ impact }) => impact === 'negative'))
})
