import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { arbitraryFacts, GOOD, missingFact, money } from '../../../tests/arbitrary-facts.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson, canonicalSha256, orderedJson } from '../canonical-json.ts'
import type { Fact, Facts } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { findFeature } from '../facts/feature-catalogue.ts'
import { compileStoredPolicy } from '../policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { decide } from './decide.ts'
import type { Evaluation } from './evaluation.ts'

const policy = sandboxPolicy()

describe('deciding', () => {
  it('gives the same bytes for the same facts in any order of keys, and does not change the facts', () => {
    fc.assert(
      fc.property(arbitraryFacts, (given) => {
        const before = canonicalJson(given)
        const reversed = { ...given, features: Object.fromEntries(Object.entries(given.features).reverse()) }
        assert.equal(canonicalJson(decide(policy, given)), canonicalJson(decide(policy, reversed)))
        assert.equal(canonicalJson(given), before)
      }),
    )
  })

  it('has score = base + references − shortfalls, line by line', () => {
    fc.assert(
      fc.property(arbitraryFacts, (given) => {
        const { scorecard, score } = decide(policy, given).trace
        const references = scorecard.reduce((sum, { reference }) => sum + reference, 0)
        const shortfalls = scorecard.reduce((sum, { shortfall }) => sum + shortfall, 0)
        const points = scorecard.reduce((sum, line) => sum + line.points, 0)
        assert.equal(score.total, score.base + references - shortfalls)
        assert.equal(score.total, score.base + points)
      }),
    )
  })

  it('gives every reason and condition a node of the trace', () => {
    fc.assert(
      fc.property(arbitraryFacts, (given) => {
        const { reasons, conditions, trace } = decide(policy, given)
        const nodes = new Set([
          'limit',
          // What stands for want of any other reason speaks of the whole scorecard, or of all rules.
          'scorecard',
          'rule_trace',
          ...trace.rule_trace.filter(({ holds }) => holds === true).map(({ rule }) => `rule_trace/${rule}`),
          ...trace.scorecard
            .filter(({ shortfall, value }) => shortfall !== 0 || value === null)
            .map(({ characteristic }) => `scorecard/${characteristic}`),
          ...(trace.limit?.terms.map(({ term }) => `limit/${term}`) ?? []),
        ])
        for (const { node } of [...reasons, ...conditions]) assert.ok(nodes.has(node), node)
      }),
    )
  })

  it('gives the largest shortfalls, and never a strength, as negative reasons', () => {
    fc.assert(
      fc.property(arbitraryFacts, (given) => {
        const { reasons, trace } = decide(policy, given)
        const losses = reasons.flatMap(({ node, impact }) => {
          const line = trace.scorecard.find(({ characteristic }) => node === `scorecard/${characteristic}`)
          // What is not known can be the reason of a review without a loss of points, and then comes first.
          const isUncertain = ['confidence', 'completeness'].includes(trace.settled_by)
          if (line === undefined || (isUncertain && line.value === null)) return []
          return [{ impact, loss: line.shortfall }]
        })
        for (const { impact, loss } of losses) assert.equal(impact === 'negative', loss > 0)
        const negative = losses.filter(({ impact }) => impact === 'negative').map(({ loss }) => loss)
        assert.deepEqual(
          negative,
          [...negative].sort((a, b) => b - a),
        )
      }),
    )
  })

  it('never recommends more than any bound of the limit, or a limit without an approval', () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryFacts, solventFacts), (given) => {
        const { verdict, limit, trace } = decide(policy, given)
        if (limit === null) return
        assert.ok(verdict === 'approve' || verdict === 'approve_with_conditions')
        assert.ok(limit > 0)
        for (const { term, amount } of trace.limit?.terms ?? [])
          assert.ok(limit <= amount, `${term} ${amount} < ${limit}`)
      }),
      { numRuns: 500 },
    )
  })

  it('never declines or asks for a review without a negative reason, and only an approval with conditions has conditions', () => {
    fc.assert(
      fc.property(arbitraryFacts, (given) => {
        const { verdict, reasons, conditions } = decide(policy, given)
        if (verdict === 'decline' || verdict === 'manual_review')
          assert.ok(reasons.some(({ impact }) => impact === 'negative'))
        assert.ok(reasons.length > 0)
        assert.equal(verdict === 'approve_with_conditions', conditions.length > 0)
      }),
      { numRuns: 500 },
    )
  })

  it('scores a missing feature by its own points, not as zero', () => {
    const anyCharacteristic = fc.constantFrom(...policy.characteristics)
    fc.assert(
      fc.property(arbitraryFacts, anyCharacteristic, missingFact, (given, { id, feature, missingBin }, absent) => {
        fc.pre(!feature.startsWith('request.'))
        const { scorecard } = decide(policy, withFact(given, feature, absent)).trace
        const line = scorecard.find(({ characteristic }) => characteristic === id)
        assert.equal(line?.bin, 'missing')
        assert.equal(line?.value, null)
        assert.equal(line?.points, missingBin.points)
      }),
    )
  })

  it('creates its trace in the order of names, as orderedJson requires', () => {
    fc.assert(
      fc.property(arbitraryFacts, (facts) => {
        const { trace } = decide(policy, facts)
        assert.equal(orderedJson(trace), canonicalJson(trace))
      }),
      { numRuns: 500 },
    )
  })

  it('has only finite numbers under a policy whose bounds overflow', () => {
    const { document } = policy
    const extreme = {
      ...document,
      tiers: document.tiers.map((tier) => ({ ...tier, cap: 1e307, balance_multiple: 1e307 })),
      scorecard: {
        ...document.scorecard,
        probability: document.scorecard.probability!.map((row) => ({ ...row, bad_ppm: 0 })),
      },
      limit: {
        ...document.limit,
        currencies: [{ currency: 'EUR', per_reference: 1e10, step: Number.MIN_VALUE }],
      },
    }
    const compiled = compileStoredPolicy({ document: canonicalJson(extreme), checksum: canonicalSha256(extreme) })
    assert.ok('policy' in compiled)
    for (const amount of [1000, 999_999_999]) {
      const { trace, limit } = decide(compiled.policy, factsFrom({ ...GOOD, 'request.amount': amount }))
      // canonicalJson refuses numbers that are not finite.
      assert.equal(orderedJson(trace), canonicalJson(trace))
      assert.ok(limit === null || (limit > 0 && limit <= amount))
    }
  })

  it('treats a value of another type than the policy declares as missing', () => {
    const mistyped = withFact(factsFrom(GOOD), 'history.repaid', { value: '3' })
    const line = decide(policy, mistyped).trace.scorecard.find(({ feature }) => feature === 'history.repaid')
    assert.equal(line?.bin, 'missing')
    assert.equal(line?.missing, 'wrong_type')
  })

  it('never evaluates a rule on a missing feature as if it were zero', () => {
    const { rule_trace } = decide(policy, factsFrom({})).trace
    const shortHistory = rule_trace.find(({ rule }) => rule === 'short_history')
    assert.deepEqual(shortHistory, {
      rule: 'short_history',
      action: 'manual_review',
      holds: null,
      missing: ['cashflow.days_observed'],
    })
  })

  it('leaves the limit unknown, not zero, if facts are missing', () => {
    const { verdict, limit, trace } = decide(
      policy,
      withFact(factsFrom(GOOD), 'cashflow.other_income', { missing: 'no_data' }),
    )
    assert.equal(verdict, 'manual_review')
    assert.equal(limit, null)
    assert.equal(trace.limit?.amount, null)
    assert.deepEqual(trace.limit?.missing, ['cashflow.other_income'])
  })

  it('is never more confident on older facts, up to their maximum age', () => {
    fc.assert(
      fc.property(arbitraryFacts, fc.nat(1000), (given, days) => {
        const older = Object.entries(given.features).map(([name, fact]): [string, Fact] => {
          if (!('value' in fact) || fact.age_days === undefined) return [name, fact]
          return [name, { ...fact, age_days: Math.max(fact.age_days, Math.min(120, fact.age_days + days)) }]
        })
        const aged = decide(policy, { format: 1, features: Object.fromEntries(older) })
        const { confidence } = decide(policy, given).trace
        assert.ok(confidence === null || aged.trace.confidence!.ppm <= confidence.ppm)
      }),
    )
  })

  it('treats facts older than the policy accepts as missing', () => {
    fc.assert(
      fc.property(arbitraryFacts, (given) => {
        const isAgeing = (name: string) => findFeature(name)?.half_life_days !== null
        const cashflow = Object.keys(given.features).filter((name) => name.startsWith('cashflow.') && isAgeing(name))
        const withCashflow = (fact: Fact) =>
          decide(
            policy,
            cashflow.reduce((facts, name) => withFact(facts, name, fact), given),
          )
        assert.deepEqual(withCashflow({ value: 1, age_days: 121 }), withCashflow({ missing: 'stale' }))
      }),
    )
  })

  it('never throws on any facts that a caller can send', () => {
    const odd = fc.oneof(fc.string(), fc.boolean(), fc.double(), fc.constantFrom(1e300, -1e300, Number.MAX_VALUE))
    fc.assert(
      fc.property(arbitraryFacts, fc.constantFrom(...Object.keys(GOOD)), odd, (given, name, value) => {
        decide(policy, withFact(given, name, { value }))
      }),
      { numRuns: 500 },
    )
  })

  it('counts open credits, so that the same capacity is not lent four times', () => {
    let outstanding = 0
    const limits = [1, 2, 3, 4].map(() => {
      const values = { ...GOOD, 'history.outstanding': outstanding, 'request.amount': 30_000 }
      const { limit } = decide(policy, factsFrom(values))
      outstanding += limit ?? 0
      return limit
    })
    assert.equal(limits[0], 27_700)
    assert.ok(
      limits.slice(1).every((limit) => (limit ?? 0) < 3500),
      limits.join(),
    )
    assert.ok(outstanding < 31_000)
  })

  it('counts an own credit once, whether or not the account shows its repayment', () => {
    const capacity = (values: Record<string, number>) =>
      Math.min(...decide(policy, factsFrom({ ...GOOD, ...values })).trace.limit!.terms.map(({ amount }) => amount))
    const shown = { 'cashflow.monthly_debt_service': 900 }
    assert.equal(capacity({ ...shown, 'history.outstanding': 10_000 }), capacity(shown))
    assert.ok(capacity({ 'history.outstanding': 30_000 }) < capacity({}))
  })

  it('lends no more in total than the cap of the tier', () => {
    const rich = {
      'cashflow.monthly_income': 100_000,
      'cashflow.recurring_income': 100_000,
      'cashflow.average_balance': 90_000,
      'cashflow.reserve': 90_000,
    }
    const values = { ...GOOD, ...rich, 'history.outstanding': 95_010, 'request.amount': 30_000 }
    const { limit, reasons, trace } = decide(policy, factsFrom(values))
    assert.deepEqual([limit, trace.limit?.binding], [4950, 'exposure'])
    assert.deepEqual([reasons[0]?.code, reasons[0]?.node], ['credit_outstanding', 'limit/exposure'])
  })

  it('counts every input once: known, missing, or not requested', () => {
    fc.assert(
      fc.property(arbitraryFacts, fc.boolean(), (given, isAmountGiven) => {
        const { 'request.amount': _, ...rest } = given.features
        const facts: Facts = isAmountGiven ? given : { ...given, features: rest }
        const { completeness, request } = decide(policy, facts).trace
        const isAsked = ({ feature }: { feature: string }) => {
          const fact = request[feature]
          return fact === undefined || !('missing' in fact) || fact.missing !== 'not_requested'
        }
        const asked = policy.document.inputs.filter(isAsked)
        const weigh = (inputs: typeof asked) => inputs.reduce((sum, { weight }) => sum + weight, 0)
        assert.equal(completeness.total_weight, weigh(asked))
        const known = asked.filter(({ feature }) => !completeness.missing.includes(feature))
        assert.equal(completeness.known_weight, weigh(known))
      }),
    )
  })

  it('treats a figure as missing by the maximum age of that figure only', () => {
    for (const figure of FIGURES) {
      const bounded = policyWithAges({ [figure]: 10 })
      const others = policyWithAges(Object.fromEntries(FIGURES.map((name) => [name, name === figure ? 99 : 10])))
      const good = factsFrom(GOOD)
      const aged = withFact(good, figure, { ...good.features[figure]!, age_days: 11 } as Fact)
      const seen = ({ trace: { request, limit } }: Evaluation) => ({ request, limit })
      const stale = seen(decide(bounded, withFact(good, figure, { missing: 'stale' })))
      assert.deepEqual(seen(decide(bounded, aged)), stale, figure)
      assert.notDeepEqual(seen(decide(others, aged)), stale, figure)
    }
  })

  it('grants a request to the cent if the next step would be granted too, although limits are rounded', () => {
    assert.equal(decide(policy, factsFrom({ ...GOOD, 'request.amount': 1234.56 })).limit, 1234.56)
    const largest = decide(policy, factsFrom({ ...GOOD, 'request.amount': 1e9 })).limit!
    const limitOf = (amount: number) => decide(policy, factsFrom({ ...GOOD, 'request.amount': amount })).limit
    assert.deepEqual([limitOf(largest), limitOf(largest - 0.01)], [largest, largest - 0.01])
    assert.equal(limitOf(largest + 0.01), largest)
  })

  it('offers the largest amount that it would approve', () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryFacts, solventFacts), (given) => {
        const { verdict, limit, trace } = decide(policy, given)
        if (trace.settled_by !== 'counter_offer') return
        const at = (amount: number) => decide(policy, withFact(given, 'request.amount', { value: amount }))
        const step = trace.limit!.step!
        assert.equal(verdict, 'approve_with_conditions')
        assert.equal(at(limit!).limit, limit)
        assert.notEqual(at(limit!).trace.settled_by, 'counter_offer')
        assert.equal(at(limit! + step).limit, limit)
      }),
      { numRuns: 500 },
    )
  })

  it('gives no more for a smaller request, and no less for a larger one', () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryFacts, solventFacts), money, money, (given, one, more) => {
        fc.pre(one > 0)
        const limitOf = (amount: number) =>
          decide(policy, withFact(given, 'request.amount', { value: amount })).limit ?? 0
        assert.ok(limitOf(one) <= limitOf(one + more))
      }),
      { numRuns: 1000 },
    )
  })

  it('computes the ratios of a tiny request from its exact instalment, not the rounded one', () => {
    const { request } = decide(policy, factsFrom({ ...GOOD, 'request.amount': 0.05, 'cashflow.reserve': 0.01 })).trace
    assert.deepEqual(request['request.reserve_to_instalment'], { value: 4.248677 })
  })

  it('asks for a review if the policy does not know the currency', () => {
    const { verdict, reasons } = decide(policy, factsFrom({ ...GOOD, 'request.currency': 'XAU' }))
    assert.equal(verdict, 'manual_review')
    assert.equal(reasons[0]?.code, 'currency_not_offered')
  })

  it('says first that a currency is not offered, whatever else a person has to look at', () => {
    const facts = factsFrom({ 'request.amount': 900, 'request.currency': 'XAU', 'identity.conflicts': 1 })
    const { verdict, reasons } = decide(policy, facts)
    assert.equal(verdict, 'manual_review')
    assert.deepEqual(
      reasons.slice(0, 2).map(({ code }) => code),
      ['currency_not_offered', 'graph_withheld'],
    )
    assert.ok(!reasons.some(({ code }) => code === 'limit_unknown'))
    const declined = decide(policy, factsFrom({ ...GOOD, 'request.currency': 'XAU', 'history.defaults': 1 }))
    assert.deepEqual([declined.verdict, declined.reasons[0]?.code], ['decline', 'default_on_record'])
  })

  it('applies the default terms to an unknown product', () => {
    const unknown = decide(policy, factsFrom({ ...GOOD, 'request.product': 'no_such_product' }))
    const standard = decide(policy, factsFrom({ ...GOOD, 'request.product': 'default' }))
    assert.deepEqual(unknown.trace, standard.trace)
    assert.deepEqual(unknown.terms, { ...standard.terms, requested_product: 'no_such_product' })
    assert.equal(unknown.terms.product, 'default')
  })
})

/** Good applicants of all sizes, so that every bound of the limit binds for some. */
const solventFacts: fc.Arbitrary<Facts> = fc
  .record({
    'cashflow.monthly_income': money,
    'cashflow.recurring_income': money,
    'cashflow.average_balance': money,
    'cashflow.reserve': money,
    'history.late': fc.nat(2),
    'request.amount': fc.integer({ min: 1, max: 90_000_000 }).map((cents) => cents / 100),
    'request.currency': fc.constantFrom('EUR', 'JPY', 'CZK'),
  })
  .map((values) => factsFrom({ ...GOOD, ...values }))

/** The figures that can become too old. */
const FIGURES = [
  'cashflow.monthly_income',
  'cashflow.recurring_income',
  'cashflow.other_income',
  'cashflow.monthly_spending',
  'cashflow.monthly_debt_service',
  'cashflow.reserve',
  'cashflow.average_balance',
]

/** The sandbox policy with these maximum ages only. */
function policyWithAges(ages: Record<string, number>): CompiledPolicy {
  const inputs = policy.document.inputs.map(({ max_age_days: _, ...input }) => {
    const age = ages[input.feature]
    return age === undefined ? input : { ...input, max_age_days: age }
  })
  const document = { ...policy.document, inputs }
  const compiled = compileStoredPolicy({ document: canonicalJson(document), checksum: canonicalSha256(document) })
  assert.ok('policy' in compiled)
  return compiled.policy
}

function withFact({ features }: Facts, name: string, fact: Fact): Facts {
  return { format: 1, features: { ...features, [name]: fact } }
}
