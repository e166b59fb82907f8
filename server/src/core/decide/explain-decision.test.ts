import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { arbitraryFacts, GOOD } from '../../../tests/arbitrary-facts.ts'
import { drawImprovement, seededBelow } from '../../../tests/improvements.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import type { Facts, FactValue } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { compilePolicy } from '../policy/compile/compile-policy.ts'
import { VERDICTS, type Verdict } from '../vocabularies.ts'
import { decide } from './decide.ts'
import { explainDecision } from './explain-decision.ts'

const policy = sandboxPolicy()
const EUR_STEP = policy.currencies.get('EUR')!.step

describe('an explanation', () => {
  it('has every rule and every line of the trace, unchanged', () => {
    fc.assert(
      fc.property(arbitraryFacts, (facts) => {
        const { trace } = decide(policy, facts)
        const { rules, scorecard } = explainDecision(policy, facts)
        for (const [index, rule] of trace.rule_trace.entries())
          assert.deepEqual({ ...rules[index], ...rule }, rules[index])
        for (const [index, line] of trace.scorecard.entries())
          assert.deepEqual({ ...scorecard[index], ...line }, scorecard[index])
        assert.deepEqual([rules.length, scorecard.length], [trace.rule_trace.length, trace.scorecard.length])
        const points = scorecard.reduce((sum, line) => sum + line.points, trace.score.base)
        assert.equal(points, trace.score.total)
      }),
    )
  })

  it('names only thresholds at which its rule turns', () => {
    fc.assert(
      fc.property(arbitraryFacts, (facts) => {
        for (const { rule, holds, thresholds } of explainDecision(policy, facts).rules)
          for (const { feature, threshold } of thresholds) {
            // Whichever way the comparison is written, one of these is on its other side.
            const nearby = [threshold - 1e-6, threshold, threshold + 1e-6].map(
              (value) =>
                decide(policy, withValue(facts, feature, value)).trace.rule_trace.find((one) => one.rule === rule)
                  ?.holds,
            )
            assert.ok(nearby.includes(!holds), `${rule} turns at ${feature} ${threshold}: ${nearby}`)
          }
      }),
      { numRuns: 200 },
    )
  })

  it('has the values that a rule looked at, and why one is missing', () => {
    const facts = factsFrom({ ...GOOD, 'cashflow.days_observed': 71 }, 3)
    assert.deepEqual(ruleIn(facts, 'short_history'), {
      action: 'manual_review',
      holds: true,
      rule: 'short_history',
      code: 'short_history',
      label: 'Fewer than 75 days of transactions',
      explanation: 'Less than two and a half months of account history say little about a habit.',
      when: 'cashflow.days_observed < 75',
      values: [{ feature: 'cashflow.days_observed', value: 71, age_days: 3 }],
      thresholds: [{ feature: 'cashflow.days_observed', operator: '<', threshold: 75, value: 71, distance: 4 }],
    })
    const { 'cashflow.days_observed': _, ...unobserved } = GOOD
    const unknown = ruleIn(factsFrom(unobserved), 'short_history')
    assert.deepEqual(
      [unknown.holds, unknown.missing, unknown.values, unknown.thresholds],
      [null, ['cashflow.days_observed'], [{ feature: 'cashflow.days_observed', value: null, missing: 'no_data' }], []],
    )
  })

  it('labels a characteristic by the policy, or else by the catalogue of features', () => {
    const labelled = (document: typeof policy.document) => {
      const compiled = compilePolicy(document)
      assert.ok('policy' in compiled, JSON.stringify(compiled))
      return explainDecision(compiled.policy, factsFrom(GOOD)).scorecard[0]!.label
    }
    assert.equal(labelled(policy.document), 'Lowest balance after a payment, in monthly instalments')
    const [{ label: _, ...first }, ...others] = policy.document.scorecard.characteristics as [
      (typeof policy.document.scorecard.characteristics)[number],
    ]
    const scorecard = { ...policy.document.scorecard, characteristics: [first, ...others] }
    assert.match(labelled({ ...policy.document, scorecard }), /lowest balance.*instalment/i)
  })

  it('names the product whose terms were used, and that the requested one is not listed', () => {
    const [listed] = policy.document.products.filter(({ product }) => product !== 'default')
    const terms = (product: string) =>
      explainDecision(policy, factsFrom({ ...GOOD, 'request.product': product })).product
    const found = terms(listed!.product)
    assert.deepEqual([found.requested, found.applied, found.is_fallback], [listed!.product, listed!.product, false])
    assert.deepEqual([found.term_months, found.annual_rate], [listed!.term_months, listed!.annual_rate])
    const typo = terms('credit_lien')
    assert.deepEqual([typo.requested, typo.applied, typo.is_fallback], ['credit_lien', 'default', true])
    assert.equal(terms('default').is_fallback, false)
  })

  it('names every missing input with its cause, also a text where a number is expected', () => {
    const { 'cashflow.reserve': _, ...facts } = GOOD
    const missing = explainDecision(
      policy,
      factsFrom({ ...facts, 'cashflow.outflow_to_income': 'low' }),
    ).missing_features
    const causes = new Map(missing.map(({ feature, missing: cause }) => [feature, cause]))
    assert.equal(causes.get('cashflow.reserve'), 'no_data')
    assert.equal(causes.get('cashflow.outflow_to_income'), 'wrong_type')
    assert.equal(causes.has('cashflow.average_balance'), false)
  })
})

describe('the nearest better amount', () => {
  it('has the verdict that deciding it gives, and no larger amount has a better one', () => {
    let found = 0
    const below = seededBelow(4711)
    for (let draw = 0; draw < 1000; draw++) {
      const { before } = drawImprovement(below)
      const facts = draw % 2 === 0 ? withValue(before, 'request.currency', 'EUR') : fairFacts(below)
      const amount = 1 + below(90_000)
      const asked = withValue(facts, 'request.amount', amount)
      const { verdict } = decide(policy, asked)
      const better = explainDecision(policy, asked).better_amount
      const rankAt = (smaller: number) => rank(decide(policy, withValue(facts, 'request.amount', smaller)).verdict)
      if (better === null) {
        if (amount > EUR_STEP) assert.ok(rankAt(EUR_STEP) >= rank(verdict), `${EUR_STEP} is better than ${amount}`)
        continue
      }
      found += 1
      assert.ok(better.amount < amount && better.amount % EUR_STEP === 0)
      assert.equal(rankAt(better.amount), rank(better.verdict))
      assert.ok(rank(better.verdict) < rank(verdict))
      const next = better.amount + EUR_STEP
      if (next < amount) assert.ok(rankAt(next) >= rank(verdict), `${better.amount} of ${amount}`)
    }
    assert.ok(found > 100, `only ${found} requests have a better amount, so the sample shows little`)
  })

  it('of a counter-offer without conditions is the offered amount itself', () => {
    const facts = factsFrom({ ...GOOD, 'request.amount': 900_000 })
    const { verdict, limit } = decide(policy, facts)
    assert.equal(verdict, 'approve_with_conditions')
    assert.deepEqual(explainDecision(policy, facts).better_amount, {
      amount: limit,
      currency: 'EUR',
      verdict: 'approve',
      settled_by: 'nothing_against',
    })
  })

  it('does not exist for an approval, for access, and for a currency that the policy does not know', () => {
    const better = (values: Record<string, FactValue>) => explainDecision(policy, factsFrom(values)).better_amount
    assert.equal(better(GOOD), null)
    const { 'request.amount': _, 'request.currency': __, ...access } = GOOD
    assert.equal(better({ ...access, 'identity.conflicts': 1 }), null)
    assert.equal(better({ ...GOOD, 'request.currency': 'XAF', 'identity.conflicts': 1 }), null)
  })
})

describe('the figures of a counter-offer', () => {
  it('are those that deciding each of the two amounts gives', () => {
    let found = 0
    const below = seededBelow(4712)
    for (let draw = 0; draw < 400; draw++) {
      const facts = withValue(fairFacts(below), 'request.amount', 1000 + below(90_000))
      const { limit, trace } = decide(policy, facts)
      const { counter_offer } = explainDecision(policy, facts)
      assert.equal(counter_offer !== null, trace.settled_by === 'counter_offer')
      if (counter_offer === null) continue
      found += 1
      assert.deepEqual([counter_offer.offered.amount, counter_offer.currency], [limit, 'EUR'])
      for (const figures of [counter_offer.asked, counter_offer.offered]) {
        const decided = decide(policy, withValue(facts, 'request.amount', figures.amount))
        const { score, confidence, request, scorecard } = decided.trace
        assert.deepEqual([figures.score, figures.bad_ppm], [score.total, score.bad_ppm])
        assert.deepEqual([figures.confidence, figures.request], [confidence, request])
        assert.equal(figures.tier, decided.tier)
        const lines = scorecard.filter(({ feature }) => feature.startsWith('request.'))
        assert.ok(lines.length > 0)
        assert.deepEqual(
          figures.scorecard.map(({ label: _, ...line }) => line),
          lines,
        )
      }
      const { instalment, annual_rate } = decide(policy, withValue(facts, 'request.amount', limit!)).terms
      assert.deepEqual([counter_offer.offered.instalment, counter_offer.offered.annual_rate], [instalment, annual_rate])
    }
    assert.ok(found > 40, `only ${found} counter-offers, so the sample shows little`)
  })
})

/** An applicant whose verdict depends on the amount more often than on anything else. */
function fairFacts(below: (bound: number) => number): Facts {
  const income = 500 + below(6000)
  return factsFrom({
    ...GOOD,
    'cashflow.monthly_income': income,
    'cashflow.recurring_income': income,
    'cashflow.reserve': below(9000),
    'cashflow.low_balance_share': below(40) / 100,
    'cashflow.overdrawn_days_365': below(4),
    'graph.negative_exposure': below(12) / 100,
  })
}

function ruleIn(facts: Facts, rule: string) {
  return explainDecision(policy, facts).rules.find((one) => one.rule === rule)!
}

function withValue({ features }: Facts, name: string, value: FactValue): Facts {
  return { format: 1, features: { ...features, [name]: { ...features[name], value } } }
}

function rank(verdict: Verdict): number {
  return VERDICTS.indexOf(verdict)
}
