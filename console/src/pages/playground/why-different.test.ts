import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyDifferent } from './why-different.ts'

type View = Parameters<typeof whyDifferent>[0]

const score = { base: 300, total: 614, cutoff: 550, bad_ppm: 40_000 }
const limit = { currency: 'EUR', terms: [], missing: [], step: null, binding: 'requested', amount: 6_000 }
const asAsked: View = {
  verdict: 'approve',
  requested: { amount: 6_000, currency: 'EUR' },
  recommended_limit: 6_000,
  evidence: { score, settled_by: 'nothing_against', limit },
}
const bound = (binding: string, amount: number): View => ({
  ...asAsked,
  recommended_limit: amount,
  evidence: { score, settled_by: 'counter_offer', limit: { ...limit, binding, amount } },
})

test('two equal decisions do not differ', () => {
  assert.equal(whyDifferent(asAsked, asAsked), 'They do not, on these facts.')
})

test('a lower limit is explained by the term that binds it, and the other by what was asked', () => {
  assert.equal(
    whyDifferent(bound('income_after_own_credit', 4_200), asAsked),
    'Under A the limit is below what was asked, under B nothing speaks against it. ' +
      'A lends €4,200, bound by the term “income after own credit”; B lends what was asked.',
  )
  assert.match(whyDifferent(bound('risk', 4_200), bound('rule', 900)), /or be too uncertain; B lends €900, as a rule/)
})

test('scores, cutoffs and a review are named on both sides', () => {
  const review: View = {
    ...asAsked,
    verdict: 'manual_review',
    recommended_limit: null,
    evidence: { score: { ...score, total: 575, cutoff: 570 }, settled_by: 'confidence', limit },
  }
  assert.equal(
    whyDifferent(asAsked, review),
    'Under A nothing speaks against it, under B the score is not sure enough. A scores 614, B 575. ' +
      'The cutoff of A is 550, that of B 570. A lends what was asked; B lends nothing until a person decides.',
  )
})
