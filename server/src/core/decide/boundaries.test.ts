/** Decisions just below, at and just above every boundary of deciding, under a policy of round numbers. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boundaryPolicy } from '../../../tests/boundary-policy.ts'
import type { FactValue } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { decide } from './decide.ts'
import type { Evaluation } from './evaluation.ts'

const policy = boundaryPolicy()

/** An applicant with a score of 620: the cutoff and two standard deviations. */
const APPLICANT = {
  'snapshot.steer': 10,
  'snapshot.segment': 'silver',
  'snapshot.member': true,
  'snapshot.bureau': 600,
  'snapshot.left': 0,
  'snapshot.right': 0,
  'cashflow.monthly_income': 2000,
  'cashflow.monthly_spending': 500,
  'cashflow.balance_variation': 0,
  'cashflow.overdrawn_days_365': 0,
  'request.amount': 1000,
  'request.currency': 'EUR',
}

type Changes = Record<string, FactValue | null>

/** Decides about the applicant with some facts changed; null makes one missing. */
function decided(changes: Changes, ageDays?: number): Evaluation {
  const facts = Object.entries({ ...APPLICANT, ...changes }).filter(([, value]) => value !== null)
  return decide(policy, factsFrom(Object.fromEntries(facts) as Record<string, FactValue>, ageDays))
}

const settled = ({ verdict, trace }: Evaluation) => `${verdict} by ${trace.settled_by}`
const line = ({ trace }: Evaluation, id: string) => trace.scorecard.find((one) => one.characteristic === id)!
const holds = ({ trace }: Evaluation, id: string) => trace.rule_trace.find(({ rule }) => rule === id)!.holds
const negative = ({ reasons }: Evaluation) =>
  reasons.filter(({ impact }) => impact === 'negative').map(({ code }) => code)
const positive = ({ reasons }: Evaluation) =>
  reasons.filter(({ impact }) => impact === 'positive').map(({ code }) => code)

/** Scores 589 to 621, by the value that steers the score. */
const STEER = { 589: 0, 590: 1, 591: 2, 599: 3, 600: 4, 601: 5, 609: 6, 610: 7, 611: 8, 619: 9, 620: 10, 621: 11 }
const withScore = (score: keyof typeof STEER) => decided({ 'snapshot.steer': STEER[score] })

describe('at the cutoff and at the confidence that a verdict needs', () => {
  for (const [score, expected, ppm, declinePpm] of [
    [589, 'decline by score', 810_500, 810_500],
    [590, 'decline by score', 800_000, 800_000],
    [591, 'manual_review by confidence', 743_000, 743_000],
    [599, 'manual_review by confidence', 503_000, 503_000],
    [600, 'manual_review by confidence', 500_000, 0],
    [601, 'manual_review by confidence', 503_000, 0],
    [609, 'manual_review by confidence', 743_000, 0],
    [610, 'approve by nothing_against', 800_000, 0],
    [611, 'approve by nothing_against', 810_500, 0],
    [619, 'approve by nothing_against', 930_500, 0],
    [620, 'approve by nothing_against', 950_000, 0],
    [621, 'approve by nothing_against', 950_000, 0],
  ] as const)
    it(`a score of ${score} is ${expected}`, () => {
      const evaluation = withScore(score)
      const { confidence, score: scored } = evaluation.trace
      assert.deepEqual(
        [scored.total, settled(evaluation), confidence!.ppm, confidence!.decline_ppm, confidence!.distance],
        [score, expected, ppm, declinePpm, score - 600],
      )
    })

  it('a score at the cutoff is not below it: with less confidence to ask for it is approved, and one point less is not', () => {
    const verdicts = { cutoff: 600, confidence_min_ppm: 500_000, completeness_min_ppm: 700_000 }
    const lenient = boundaryPolicy({ verdicts })
    const at = (score: keyof typeof STEER) => {
      return settled(decide(lenient, factsFrom({ ...APPLICANT, 'snapshot.steer': STEER[score] })))
    }
    assert.equal(at(600), 'approve by nothing_against')
    assert.equal(at(599), 'decline by score')
  })

  it('a score at the cutoff would not have declined, so a knock-out names no shortfall of it', () => {
    const declined = (score: keyof typeof STEER) =>
      negative(
        decided({
          'snapshot.steer': STEER[score],
          'snapshot.segment': null,
          'cashflow.overdrawn_days_365': 4,
        }),
      )
    assert.deepEqual(declined(601), ['overdrawn'])
    assert.deepEqual(declined(600), ['overdrawn', 'nothing_known'])
  })

  it('reasons of one size are given in the order of the scorecard', () => {
    const both = (value: number, steer: number) => ({
      'snapshot.left': value,
      'snapshot.right': value,
      'snapshot.steer': steer,
    })
    assert.deepEqual(negative(decided(both(-1, STEER[589]))), ['left_low', 'right_low'])
  })

  it('a decline counts missing values as their best, so a good one could not have saved it', () => {
    const { confidence } = decided({ 'snapshot.steer': STEER[590], 'snapshot.bureau': null }).trace
    assert.deepEqual([confidence!.distance, confidence!.decline_ppm], [-10, 608_000], 'six points below, not ten')
  })
})

describe('at the tiers and in the table of probabilities', () => {
  for (const [score, tier, badPpm] of [
    [589, 'C', 265_000],
    [599, 'C', 115_000],
    [600, 'C', 100_000],
    [601, 'C', 96_000],
    [609, 'C', 64_000],
    [610, 'B', 60_000],
    [611, 'B', 56_000],
    [619, 'B', 24_000],
    [620, 'A', 20_000],
    [621, 'A', 20_000],
  ] as const)
    it(`a score of ${score} is tier ${tier} with ${badPpm} ppm`, () => {
      const { tier: reached, trace } = withScore(score)
      assert.deepEqual([reached, trace.score.bad_ppm], [tier, badPpm])
    })
})

describe('at the completeness that a verdict needs', () => {
  for (const [missing, ppm, expected] of [
    [[], 1_000_000, 'approve by nothing_against'],
    [['snapshot.bureau'], 700_000, 'manual_review by confidence'],
    [['snapshot.segment'], 700_000, 'approve by nothing_against'],
    [['snapshot.segment', 'snapshot.bureau'], 400_000, 'manual_review by completeness'],
    [['snapshot.steer'], 600_000, 'manual_review by completeness'],
  ] as const)
    it(`without ${missing.join(' and ') || 'nothing'} it is ${ppm} ppm, ${expected}`, () => {
      const evaluation = decided(Object.fromEntries(missing.map((feature) => [feature, null])))
      const { completeness } = evaluation.trace
      assert.deepEqual([completeness.ppm, completeness.missing, settled(evaluation)], [ppm, missing, expected])
    })

  it('is none under a policy whose inputs weigh nothing', () => {
    const inputs = policy.inputs.map((input) => ({ ...input, weight: 0 }))
    const { completeness } = decide({ ...policy, inputs, weight: 0 }, factsFrom(APPLICANT)).trace
    assert.deepEqual(completeness, { known_weight: 0, missing: [], ppm: 0, total_weight: 0 })
  })

  it('rounds down, and counts only what applies to the request', () => {
    const evaluation = decided({ 'request.amount': null, 'request.currency': null, 'snapshot.segment': null })
    assert.deepEqual(
      [evaluation.trace.completeness.ppm, settled(evaluation)],
      [700_000, 'approve by nothing_against'],
      'access is settled by completeness, and needs no confidence',
    )
  })
})

describe('at the bounds of bins', () => {
  for (const [value, bin, points] of [
    [499.999999, 'below 500', -4],
    [500, '500 to below 700', 0],
    [500.000001, '500 to below 700', 0],
    [699.999999, '500 to below 700', 0],
    [700, '700 or more', 4],
    [-1e9, 'below 500', -4],
    [1e9, '700 or more', 4],
  ] as const)
    it(`${value} is in the bin "${bin}"`, () => {
      const { bin: label, points: scored, value: seen } = line(decided({ 'snapshot.bureau': value }), 'bureau')
      assert.deepEqual([label, scored, seen], [bin, points, value])
    })

  for (const [value, points] of [
    ['gold', 3],
    ['silver', 0],
    ['Gold', -3],
    ['gold ', -3],
    ['', -3],
    [null, -1],
    [5, -1],
  ] as const)
    it(`the text ${JSON.stringify(value)} gets ${points} points`, () => {
      const scored = line(decided({ 'snapshot.segment': value }), 'segment')
      assert.deepEqual([scored.points, scored.shortfall], [points, -points || 0])
    })

  it('a value of another type is missing, and says so', () => {
    assert.equal(line(decided({ 'snapshot.segment': 5 }), 'segment').missing, 'wrong_type')
    assert.equal(line(decided({ 'snapshot.bureau': '600' }), 'bureau').missing, 'wrong_type')
    assert.equal(line(decided({ 'snapshot.bureau': null }), 'bureau').missing, 'no_data')
  })
})

describe('at the thresholds of rules', () => {
  for (const [days, expected] of [
    [2, 'approve by nothing_against'],
    [3, 'manual_review by data_questioned'],
    [3.999999, 'approve by nothing_against'],
    [4, 'decline by knock_out'],
    [4.000001, 'decline by knock_out'],
  ] as const)
    it(`2 × ${days} + 1 >= 9 and ${days} == 3: ${expected}`, () => {
      const evaluation = decided({ 'cashflow.overdrawn_days_365': days })
      assert.equal(settled(evaluation), expected)
      assert.equal(holds(evaluation, 'overdrawn'), days >= 4)
    })

  for (const [spending, expected] of [
    [799, false],
    [800, false],
    [801, true],
  ] as const)
    it(`${spending} / 1000 > 0.8 is ${expected}`, () => {
      const evaluation = decided({ 'cashflow.monthly_income': 1000, 'cashflow.monthly_spending': spending })
      assert.equal(holds(evaluation, 'spends'), expected)
    })

  for (const [left, right, expected] of [
    [0, 0.4, false],
    [1, 1, false],
    [0.999999, 1, true],
    [1.000001, 1, false],
    [5, 2, false],
    [5, 3.1, true],
  ] as const)
    it(`${left} - ${right} * 2 < -1 is ${expected}`, () => {
      const evaluation = decided({ 'snapshot.left': left, 'snapshot.right': right })
      assert.equal(holds(evaluation, 'sum'), expected)
      assert.equal(
        settled(evaluation),
        expected ? 'approve_with_conditions by conditions' : 'approve by nothing_against',
      )
    })

  it('a rule is open only if the missing value would decide it', () => {
    const prefix = (segment: FactValue | null, member: FactValue | null) =>
      holds(decided({ 'snapshot.segment': segment, 'snapshot.member': member }), 'prefix')
    assert.deepEqual(
      [
        prefix('silver', false),
        prefix('silver', true),
        prefix('gold', false),
        prefix('sin', false),
        prefix('s', false),
      ],
      [true, false, false, true, false],
    )
    assert.deepEqual([prefix('silver', null), prefix(null, false), prefix(null, null)], [null, null, null])
    assert.deepEqual([prefix('gold', null), prefix(null, true)], [false, false], 'the other side settles it')
  })
})

describe('between equal shortfalls and equal strengths', () => {
  it('a shortfall of one point is a reason', () => {
    const evaluation = decided({ 'snapshot.segment': null })
    assert.equal(line(evaluation, 'segment').shortfall, 1)
    assert.deepEqual(negative(evaluation), ['nothing_known'])
  })

  it('the order of the policy decides, and a larger one comes first', () => {
    assert.deepEqual(negative(decided({ 'snapshot.left': -1, 'snapshot.right': -1 })), ['left_low', 'right_low'])
    assert.deepEqual(negative(decided({ 'snapshot.left': -1, 'snapshot.segment': 'x' })), ['segment_low', 'left_low'])
    assert.deepEqual(
      negative(decided({ 'snapshot.left': -1, 'snapshot.right': -1, 'snapshot.segment': 'x' })),
      ['segment_low', 'left_low'],
      'at most two',
    )
    assert.deepEqual(positive(decided({ 'snapshot.left': 20, 'snapshot.right': 20 })), ['steer_high'])
    const strengths = { 'snapshot.steer': null, 'snapshot.left': 20, 'snapshot.right': 20 }
    assert.deepEqual(positive(decided(strengths)), ['left_high'])
    assert.deepEqual(positive(decided({ ...strengths, 'snapshot.segment': 'gold' })), ['segment_high'])
  })
})

describe('at the limit', () => {
  for (const [variation, limit] of [
    [0, 10_000],
    [0.999, 5004.99], // in binary, a little below 5,005, and rounded down
    [0.99, 5050],
    [1, 5000],
    [1.001, 5000],
    [2, 5000],
    [1e9, 5000],
  ] as const)
    it(`a variation of ${variation} leaves ${limit} of an income of 1,000`, () => {
      const evaluation = decided({
        'cashflow.monthly_income': 1000,
        'cashflow.monthly_spending': 0,
        'cashflow.balance_variation': variation,
        'request.amount': 40_000,
      })
      const income = evaluation.trace.limit!.terms.find(({ term }) => term === 'income')!.amount
      assert.deepEqual([income, evaluation.limit], [limit, Math.floor(limit / 50) * 50])
      assert.deepEqual(
        [evaluation.trace.limit!.binding, settled(evaluation)],
        ['income', 'approve_with_conditions by counter_offer'],
      )
    })

  for (const [amount, expected, limit] of [
    [999.99, 'approve by nothing_against', 999.99],
    [1000, 'approve by nothing_against', 1000],
    [1000.01, 'approve_with_conditions by counter_offer', 1000],
    [1049.99, 'approve_with_conditions by counter_offer', 1000],
    [1050, 'approve_with_conditions by counter_offer', 1000],
    [50, 'approve by nothing_against', 50],
    [1, 'approve by nothing_against', 1],
    [1e12, 'approve_with_conditions by counter_offer', 1000],
  ] as const)
    it(`of a bound of 1,000, a request for ${amount} gets ${limit}`, () => {
      const evaluation = decided({
        'cashflow.monthly_income': 100,
        'cashflow.monthly_spending': 0,
        'request.amount': amount,
      })
      assert.deepEqual([settled(evaluation), evaluation.limit], [expected, limit])
    })

  for (const [income, expected, limit] of [
    [4.99, 'decline by no_limit_left', null],
    [5, 'approve_with_conditions by counter_offer', 50],
    [5.01, 'approve_with_conditions by counter_offer', 50],
    [9.99, 'approve_with_conditions by counter_offer', 50],
    [10, 'approve_with_conditions by counter_offer', 100],
    [0, 'decline by no_limit_left', null],
  ] as const)
    it(`an income of ${income} gets ${limit}, in steps of 50`, () => {
      const evaluation = decided({ 'cashflow.monthly_income': income, 'cashflow.monthly_spending': 0 })
      assert.deepEqual([settled(evaluation), evaluation.limit], [expected, limit])
    })

  it('a request below the step is approved as it is, unless the step itself is not', () => {
    const asked = (amount: number) =>
      decided({ 'cashflow.monthly_income': 2.5, 'cashflow.monthly_spending': -2.5, 'request.amount': amount })
    const refused = asked(35)
    assert.deepEqual([settled(refused), refused.limit], ['decline by no_limit_left', null])
    assert.deepEqual([refused.trace.limit!.amount, refused.trace.limit!.binding], [0, 'rule'])
    assert.equal(settled(asked(37.5)), 'decline by no_limit_left')
    assert.equal(settled(asked(37.51)), 'manual_review by review_rule')
    assert.equal(decided({ 'request.amount': 35 }).limit, 35)
  })

  it('the cap of the tier binds in the currency of the request', () => {
    const capped = (currency: string, amount: number) =>
      decided({ 'request.currency': currency, 'request.amount': amount, 'snapshot.steer': STEER[610] })
    assert.deepEqual([capped('EUR', 5000).limit, capped('EUR', 5001).limit], [5000, 5000])
    assert.deepEqual(capped('EUR', 5001).trace.limit!.binding, 'tier_cap')
    assert.equal(capped('JPY', 15_000).limit, 15_000)
    assert.equal(settled(capped('USD', 1000)), 'manual_review by limit_unknown')
  })

  it('a currency without a rate has no step, so nothing is too little for it', () => {
    const nothingLeft = { 'request.currency': 'USD', 'cashflow.monthly_spending': 2000 }
    assert.equal(settled(decided(nothingLeft)), 'manual_review by review_rule')
    assert.equal(settled(decided({ ...nothingLeft, 'request.currency': 'EUR' })), 'decline by no_limit_left')
  })

  it('the instalment follows from the terms of the product', () => {
    const instalment = (product: string) =>
      decided({ 'request.product': product, 'request.amount': 1200 }).trace.request['request.instalment']
    assert.deepEqual(instalment('default'), { value: 120 })
    assert.deepEqual(instalment('dear'), { value: 106.62 })
    assert.deepEqual(instalment('unlisted'), { value: 120 })
  })
})

describe('as values age', () => {
  for (const [age, variance] of [
    [0, 100],
    [50, 217],
    [99, 298],
    [100, 300],
    [101, 301],
    [199, 399],
    [200, 400],
  ] as const)
    it(`after ${age} days the variance of the score is ${variance}`, () => {
      const { confidence } = decided({}, age).trace
      assert.equal(confidence!.variance, variance)
      assert.equal(line(decided({}, age), 'bureau').age_days, age)
    })

  it('a value older than the policy accepts is missing', () => {
    assert.equal(line(decided({}, 200), 'bureau').missing, undefined)
    const stale = decided({}, 201)
    assert.deepEqual([line(stale, 'bureau').missing, line(stale, 'bureau').bin], ['stale', 'missing'])
    assert.deepEqual(stale.trace.completeness.missing, ['snapshot.bureau'])
    assert.equal(stale.trace.confidence!.variance, 500)
  })
})
