import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedPolicy } from '../../../tests/edited-policy.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import { refusalOf } from './request-refusal.ts'

const CREDIT = { term_months: 12, annual_rate: 0.12 }
const PRODUCTS: PolicyDocument['products'] = [
  { product: 'default', ...CREDIT },
  { product: 'loan', kind: 'credit', ...CREDIT },
  { product: 'entry', kind: 'access' },
]

function refusal(
  asked: { product: string; requested_amount?: number; term_months?: number },
  { products = PRODUCTS, unknown_products }: Partial<PolicyDocument> = {},
) {
  return refusalOf(editedPolicy({ products, tests: [], ...(unknown_products && { unknown_products }) }), asked)
}

describe('a request that a policy does not decide', () => {
  it('is one for a product that is not listed, where the policy says so', () => {
    assert.equal(
      refusal({ product: 'yacht', requested_amount: 1 }, { unknown_products: 'refuse' })?.code,
      'unknown_product',
    )
    assert.equal(refusal({ product: 'loan', requested_amount: 1 }, { unknown_products: 'refuse' }), undefined)
    assert.equal(refusal({ product: 'yacht', requested_amount: 1 }, { unknown_products: 'default' }), undefined)
    assert.equal(refusal({ product: 'yacht', requested_amount: 1 }), undefined)
  })

  it('is one for credit without an amount, and its message names the products that need none', () => {
    const { code, message } = refusal({ product: 'loan' })!
    assert.equal(code, 'amount_required')
    assert.match(message, /^'loan' is credit under the policy .+: send requested_amount and currency\. .+: entry\.$/)
    assert.equal(refusal({ product: 'loan', requested_amount: 1 }), undefined)
  })

  it('is one for access with an amount, and its message names the products that need one', () => {
    const { code, message } = refusal({ product: 'entry', requested_amount: 1 })!
    assert.equal(code, 'amount_not_allowed')
    assert.match(message, /^'entry' is access .+: send neither requested_amount nor currency\. .+: default, loan\.$/)
    assert.equal(refusal({ product: 'entry' }), undefined)
  })

  it('is one that does not fit the default product, if its own is not listed', () => {
    const { code, message } = refusal({ product: 'personal_laon' })!
    assert.equal(code, 'amount_required')
    assert.match(message, /does not list 'personal_laon' and takes it as 'default', which is credit/)
    const gate: PolicyDocument['products'] = [{ product: 'default', kind: 'access' }]
    assert.equal(refusal({ product: 'yacht' }, { products: gate }), undefined)
    const asked = refusal({ product: 'yacht', requested_amount: 1 }, { products: gate })
    assert.equal(asked?.code, 'amount_not_allowed')
    assert.match(asked!.message, /the policy has to list a product of kind credit/)
  })

  it('is one for a term that the product does not have, and its message names those that it has', () => {
    const products: PolicyDocument['products'] = [...PRODUCTS, { product: 'flex', ...CREDIT, term_choices: [36, 6] }]
    const chosen = (product: string, term_months: number, requested_amount = 1) =>
      refusal({ product, requested_amount, term_months }, { products })
    for (const term of [6, 12, 36]) assert.equal(chosen('flex', term), undefined, String(term))
    assert.equal(chosen('flex', 24)?.code, 'term_not_allowed')
    assert.match(chosen('flex', 24)!.message, /its terms are 6, 12, 36 months; .+ leave it out for 12\.$/)
    assert.match(chosen('loan', 12)!.message, /its term is 12 months and not the applicant's choice; leave out/)
    const access = refusal({ product: 'entry', term_months: 12 })!
    assert.deepEqual([access.code, access.message.endsWith('which only credit has.')], ['term_not_allowed', true])
  })

  it('is one without an amount if the product has no kind: a forgotten amount is never access', () => {
    assert.equal(refusal({ product: 'default' })?.code, 'amount_required')
  })
})
