import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../../tests/arbitrary-facts.ts'
import { editedPolicy, problemsOf, withTerms } from '../../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../../tests/sandbox-policy.ts'
import { decide } from '../../decide/decide.ts'
import { explainDecision } from '../../decide/explain-decision.ts'
import { factsFrom } from '../../facts/facts-from.ts'
import type { PolicyDocument } from '../policy-document.ts'

const OVER = { code: 'over_maximum', label: 'Amount requested exceeds the largest amount of the product' }
const UNDER = { code: 'under_minimum', label: 'Amount requested is below the smallest amount of the product' }

/** The sandbox policy with bounds of the default product, in euros at another rate and step. */
function bounded(bounds: { minimum?: number; maximum?: number }, { perReference = 1, step = 10 } = {}) {
  return ({ products, limit }: PolicyDocument): Partial<PolicyDocument> => ({
    products: withTerms(products, bounds),
    limit: {
      ...limit,
      over_maximum: OVER,
      under_minimum: UNDER,
      currencies: [{ currency: 'EUR', per_reference: perReference, step }],
    },
  })
}

describe('the bounds of a product', () => {
  it('are not moved by a step through the rounding of binary numbers', () => {
    const policy = editedPolicy(bounded({ minimum: 700, maximum: 770 }, { perReference: 1.1 }))
    const ask = (amount: number) => decide(policy, factsFrom({ ...GOOD, 'request.amount': amount }))
    assert.deepEqual([ask(770).verdict, ask(760).verdict], ['approve', 'decline'])
    assert.equal(ask(5000).limit, 840, '847, rounded down to the step')
    const inPounds = editedPolicy(bounded({ maximum: 200 }, { perReference: 1.15 }))
    const { limit } = decide(inPounds, factsFrom({ ...GOOD, 'request.amount': 5000 }))
    assert.equal(limit, 230, 'and not 220')
  })

  it('are refused if no multiple of the step is between them', () => {
    assert.match(
      problemsOf(bounded({ minimum: 701, maximum: 705 })).join('\n'),
      /in EUR the smallest amount of 'default' is 710, by a step of 10, above its maximum of 705; raise the maximum/,
    )
    assert.deepEqual(problemsOf(bounded({ minimum: 701, maximum: 710 })), [])
    assert.deepEqual(problemsOf(bounded({ maximum: 1 }, { perReference: 15 })), [], 'one step, without a minimum')
  })
})

describe('the minimum of a product', () => {
  it('is at most its maximum', () => {
    assert.deepEqual(problemsOf(bounded({ minimum: 700, maximum: 700 })), [])
    for (const problem of problemsOf(bounded({ minimum: 710, maximum: 700 })))
      assert.match(problem, /the minimum of '\w+' is above its maximum; lower it$/)
    const credits = sandboxPolicy().document.products.filter(({ kind }) => kind === 'credit')
    assert.equal(problemsOf(bounded({ minimum: 710, maximum: 700 })).length, credits.length)
  })

  it('needs a reason for less', () => {
    const edit = ({ products }: PolicyDocument) => ({ products: [{ ...products[0]!, minimum: 500 }] })
    assert.match(problemsOf(edit).join('\n'), /add the reason to give then, as limit\.under_minimum/)
  })
})

describe('the nearest better amount', () => {
  it('is found for a product with a minimum above the step', () => {
    const policy = editedPolicy(bounded({ minimum: 500, maximum: 4000 }))
    const betterFor = (amount: number) =>
      explainDecision(policy, factsFrom({ ...GOOD, 'request.amount': amount })).better_amount
    assert.deepEqual(
      { ...betterFor(5000) },
      { amount: 4000, currency: 'EUR', verdict: 'approve', settled_by: 'nothing_against' },
    )
    assert.equal(betterFor(400), null, 'less than the minimum is never lent')
  })
})
