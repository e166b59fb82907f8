import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { editedPolicy, ruleOf, withTerms } from '../../../tests/edited-policy.ts'
import type { FactSet } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { PolicyDocument, PolicyRule } from '../policy/policy-document.ts'
import { type AssessedAmount, type Assessment, assess, assessAt } from './assess.ts'
import { isApproved, offerOn, stepsIn } from './counter-offer.ts'
import { readFigures } from './read-figures.ts'
import { isBelowMinimum } from './verdict.ts'

test('an amount has whole steps, and never so many that a count of one more is not exact', () => {
  assert.equal(stepsIn(149.99, 50), 2)
  assert.equal(stepsIn(150, 50), 3)
  assert.equal(stepsIn(1, 1e-300), Number.MAX_SAFE_INTEGER - 1)
})

/** Judges an amount from the start. */
function assessed(policy: CompiledPolicy, features: FactSet, amount: number): Assessment {
  const asked = { ...features, 'request.amount': { value: amount } }
  return assess(policy, asked, readFigures(policy, asked))
}

/** The offered amount by definition: every multiple of the step up to the request is judged, from the start. */
function offeredByTryingAll(policy: CompiledPolicy, features: FactSet, requested: number): number {
  const asked = assessed(policy, features, requested)
  const { step, smallest } = asked.bounds as { step: number; smallest: number }
  const isLent = (amount: number) => isApproved(assessed(policy, features, amount))
  if (isBelowMinimum(asked)) return 0
  const next = Math.ceil(requested / step) * step
  if (isApproved(asked) && isLent(next)) return requested
  let largest = 0
  for (let amount = smallest; amount <= requested; amount += step) if (isLent(amount)) largest = amount
  return largest
}

/** Rules, bounds and features that read the amount, or what follows from it; smaller amounts are judged no more strictly. */
const EDITS: readonly ((document: PolicyDocument, at: number) => Partial<PolicyDocument>)[] = [
  () => ({}),
  () => ({}),
  (document, at) => withRule(document, { id: 'large', when: `request.amount > ${at}`, action: 'decline' }),
  (document, at) => withRule(document, { id: 'large', when: `request.amount > ${at}`, action: 'manual_review' }),
  (document, at) =>
    withRule(document, { id: 'heavy', when: `request.instalment > ${at / 20}`, action: 'manual_review' }),
  (document, at) => withRule(document, { id: 'capped', when: 'history.late >= 0', action: 'cap', cap: `${at}.5` }),
  (document, at) => ({
    inputs: withAmount(document),
    derived: [{ feature: 'derived.thousands', type: 'number', value: 'request.amount / 1000' }],
    rules: [
      ...document.rules,
      ruleOf({ id: 'thousands', when: `derived.thousands > ${at / 1000}`, action: 'points', points: -40 }),
    ],
  }),
  ({ products, tiers }, at) => ({
    products: withTerms(products, {
      annual_rate: 0.3,
      rates: tiers.flatMap(({ tier }, index) => [
        { tier, annual_rate: 0.08 + index / 100 },
        { tier, from: at / 2, annual_rate: 0.14 + index / 100 },
        { tier, from: at, annual_rate: 0.3 },
      ]),
    }),
  }),
  (_, at) => ({ after_score: [ruleOf({ id: 'low', when: `score.total < ${540 + at / 50}`, action: 'decline' })] }),
  (document, at) => ({
    products: withTerms(document.products, { minimum: 120, maximum: at + 130, fee_amount: 20 }),
    limit: {
      ...document.limit,
      over_maximum: { code: 'over_maximum', label: 'Above the maximum' },
      under_minimum: { code: 'under_minimum', label: 'Below the minimum' },
    },
  }),
]

function withAmount({ inputs }: PolicyDocument): PolicyDocument['inputs'] {
  return [
    ...inputs,
    { feature: 'request.amount', type: 'number', weight: 0 },
    { feature: 'request.instalment', type: 'number', weight: 0 },
  ]
}

function withRule(
  document: PolicyDocument,
  rule: Parameters<typeof ruleOf>[0] & { cap?: PolicyRule['cap'] },
): Partial<PolicyDocument> {
  return { inputs: withAmount(document), rules: [...document.rules, ruleOf(rule)] }
}

/** The sandbox policy with other bins, cutoff and caps, so that edges of bins and terms lie among the amounts of the test. */
const arbitraryPolicy = fc
  .record({
    edit: fc.constantFrom(...EDITS),
    at: fc.integer({ min: 100, max: 3000 }),
    cutoff: fc.integer({ min: 540, max: 640 }),
    balanceScale: fc.integer({ min: 1, max: 200 }),
    incomeScale: fc.integer({ min: 5, max: 100 }),
    capScale: fc.integer({ min: 1, max: 40 }),
  })
  .map(({ edit, at, cutoff, balanceScale, incomeScale, capScale }) =>
    editedPolicy((document) => ({
      verdicts: { ...document.verdicts, cutoff },
      tiers: document.tiers.map((tier) => ({ ...tier, cap: (tier.cap! * capScale) / 1000 })),
      scorecard: withScaledBins(document, {
        'request.lowest_balance_to_instalment': balanceScale,
        'cashflow.outflow_to_income': incomeScale / 200,
      }),
      ...edit(document, at),
    })),
  )

function withScaledBins({ scorecard }: PolicyDocument, scales: Record<string, number>): PolicyDocument['scorecard'] {
  const characteristics = scorecard.characteristics.map(({ bins, ...characteristic }) => {
    const scale = scales[characteristic.feature] ?? 1
    const scaled = bins.map((bin) => (bin.below === undefined ? bin : { ...bin, below: bin.below * scale }))
    return { ...characteristic, bins: scaled }
  })
  return { ...scorecard, characteristics }
}

const arbitraryRequest = fc.record({
  'cashflow.monthly_income': fc.integer({ min: 200, max: 4000 }),
  'cashflow.recurring_income': fc.integer({ min: 200, max: 4000 }),
  'cashflow.monthly_spending': fc.integer({ min: 0, max: 1000 }),
  'cashflow.reserve': fc.integer({ min: 0, max: 9000 }),
  'history.late': fc.constant(0),
  'request.amount': fc.integer({ min: 20, max: 600 }).chain((tens) => fc.constantFrom(tens * 5, tens * 5 + 0.37)),
})

const sizes = { numRuns: 120 }
const requests = fc.array(arbitraryRequest, { minLength: 12, maxLength: 12 })

describe('under any policy that judges smaller amounts no more strictly', () => {
  it('the search finds the amount that trying every step finds', () => {
    const found = { all: 0, less: 0, nothing: 0 }
    fc.assert(
      fc.property(arbitraryPolicy, requests, (policy, asked) => {
        for (const request of asked) {
          const { features } = factsFrom({ ...GOOD, ...request })
          const requested = request['request.amount']
          const { limit } = offerOn(policy, assessed(policy, features, requested))
          assert.equal(limit?.amount, offeredByTryingAll(policy, features, requested))
          found[limit?.amount === 0 ? 'nothing' : limit?.amount === requested ? 'all' : 'less']++
        }
      }),
      sizes,
    )
    for (const [outcome, count] of Object.entries(found)) assert.ok(count > 100, `${outcome}: ${count}`)
  })

  it('another amount is judged by what depends on it as it is judged from the start', () => {
    const comparable = ({ tier, held, bounds, verdict, settledBy, figures }: AssessedAmount) => ({
      tier,
      bounds,
      verdict,
      settledBy,
      figures,
      held: held.map(({ id }) => id),
    })
    fc.assert(
      fc.property(arbitraryPolicy, requests, fc.integer({ min: 1, max: 80 }), (policy, asked, steps) => {
        for (const request of asked) {
          const { features } = factsFrom({ ...GOOD, ...request })
          const first = assessed(policy, features, request['request.amount'])
          const amount = steps * 50
          const again = assessAt(policy, first, amount)
          assert.deepEqual(comparable(again), comparable(assessed(policy, features, amount)))
        }
      }),
      sizes,
    )
  })
})

test('terms of another amount are those of their place, also if one before them cannot be computed', () => {
  const policy = editedPolicy((document) => ({
    limit: {
      ...document.limit,
      terms: [
        { term: 'undefined', amount: '0 * score.total / (0 * score.total)', reason: document.limit.terms[0]!.reason },
        ...document.limit.terms,
      ],
    },
  }))
  const features = factsFrom({ ...GOOD, 'request.amount': 30_000 }).features
  const asked = assess(policy, features, readFigures(policy, features))
  const other = assessAt(policy, asked, 450)
  assert.deepEqual(other.bounds!.terms, assessed(policy, features, 450).bounds!.terms)
})
