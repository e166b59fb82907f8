import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SETTLING_STEPS } from '../../../../server/src/core/decide/settling-steps.ts'
import { describeBinding } from '../../../../server/src/core/policy/limit-bindings.ts'
import { whyDifferent } from './why-different.ts'

type View = Parameters<typeof whyDifferent>[0]

const score = { base: 300, total: 614, cutoff: 550, bad_ppm: 40_000 }
const limit = {
  currency: 'EUR',
  terms: [],
  missing: [],
  step: null,
  amount: 6_000,
  binding: 'requested',
  bound: describeBinding('requested'),
}
const asAsked: View = {
  verdict: 'approve',
  requested: { amount: 6_000, currency: 'EUR' },
  recommended_limit: 6_000,
  evidence: { score, settled_by: 'nothing_against', limit },
}
const bound = (binding: string, amount: number): View => ({
  ...asAsked,
  recommended_limit: amount,
  evidence: {
    score,
    settled_by: 'counter_offer',
    limit: { ...limit, binding, bound: describeBinding(binding), amount },
  },
})

test('two equal decisions do not differ', () => {
  assert.equal(whyDifferent(asAsked, asAsked), 'They do not, on these facts.')
})

test('a lower limit is explained by the term that binds it, and the other by what was asked', () => {
  assert.equal(
    whyDifferent(bound('income_after_own_credit', 4_200), asAsked),
    'Under A less than was asked for is approved, under B nothing speaks against it. ' +
      'A lends €4,200, as the term “income after own credit” allows no more; B lends what was asked.',
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

test('every pair of settling steps is told apart, in sentences without gaps', () => {
  const keys = SETTLING_STEPS.flatMap(({ settles }) => settles.map(({ by }) => by))
  const settledBy = (settled_by: (typeof keys)[number]): View => ({
    ...asAsked,
    evidence: { score, settled_by, limit },
  })
  for (const a of keys)
    for (const b of keys) {
      const why = whyDifferent(settledBy(a), settledBy(b))
      if (a === b) assert.equal(why, 'They do not, on these facts.')
      else assert.match(why, /^Under A ([a-z ]+), under B (?!\1\.)[a-z ]+\.$/, `${a} and ${b}`)
    }
})

test('a decision without a score, or of access, is told by what settled it alone', () => {
  const access: View = {
    ...asAsked,
    requested: null,
    recommended_limit: null,
    evidence: { ...asAsked.evidence, limit: null },
  }
  const declined: View = {
    ...access,
    verdict: 'decline',
    evidence: { score: null, settled_by: 'knock_out', limit: null },
  }
  assert.equal(whyDifferent(access, declined), 'Under A nothing speaks against it, under B a rule declines.')
  const altered: View = { ...access, evidence: { ...access.evidence, settled_by: null } }
  assert.match(whyDifferent(access, altered), /under B the settling step is not known\.$/)
})
