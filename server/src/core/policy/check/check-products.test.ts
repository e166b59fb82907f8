import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sandboxPolicy } from '../../../../tests/sandbox-policy.ts'
import type { PolicyProduct } from '../policy-document.ts'
import { checkProducts } from './check-products.ts'

const { document } = sandboxPolicy()

/** What the checker says of the first product of the sandbox policy with some other terms: refusals and warnings. */
function said(terms: Partial<PolicyProduct>): string[] {
  const product = { ...document.products[0]!, ...terms }
  return checkProducts({ ...document, products: [product] }).map(
    ({ path, isWarning }) => `${path.at(-1)} ${isWarning ? 'warning' : 'refusal'}`,
  )
}

describe('the terms of a product', () => {
  it('have a rate of up to 100 % a year without a word, and of up to 400 % with a warning', () => {
    assert.deepEqual(said({ annual_rate: 1 }), [])
    assert.deepEqual(said({ annual_rate: 1.001 }), ['annual_rate warning'])
    assert.deepEqual(said({ annual_rate: 4 }), ['annual_rate warning'])
    assert.deepEqual(said({ annual_rate: 4.001 }), ['annual_rate refusal'])
  })

  it('have a fee of up to half of the amount', () => {
    assert.deepEqual(said({ fee_rate: 0.5 }), [])
    assert.deepEqual(said({ fee_rate: 0.501 }), ['fee_rate refusal'])
  })

  it('cost no more in the best tier than in the next', () => {
    const [, second] = document.tiers
    const withSecond = (rate: number) => said({ annual_rate: 0.2, rates: [{ tier: second!.tier, annual_rate: rate }] })
    assert.deepEqual(withSecond(0.19), ['rates refusal'])
  })

  it('have one price for each tier', () => {
    const [best, second] = document.tiers.map(({ tier }) => ({ tier, annual_rate: 0.2 }))
    assert.deepEqual(said({ annual_rate: 0.2, rates: [best!, second!] }), [])
    assert.deepEqual(said({ annual_rate: 0.2, rates: [best!, best!] }), ['1 refusal'])
  })

  it('have the same limits for the rate of a tier', () => {
    const [best] = document.tiers
    assert.deepEqual(said({ annual_rate: 5, rates: [{ tier: best!.tier, annual_rate: 4.5 }] }), [
      'annual_rate refusal',
      'annual_rate refusal',
    ])
  })

  it('may cost more for a larger amount, and never less, in any tier', () => {
    const [best, second] = document.tiers.map(({ tier }) => tier)
    const priced = (...rates: [tier: string | undefined, from: number, rate: number][]) =>
      said({
        annual_rate: 0.2,
        rates: rates.map(([tier, from, annual_rate]) => ({ tier: tier!, annual_rate, ...(from > 0 && { from }) })),
      })
    assert.deepEqual(priced([best, 0, 0.1], [best, 5000, 0.12], [best, 9000, 0.12]), [])
    assert.deepEqual(priced([best, 0, 0.12], [best, 5000, 0.1]), ['rates refusal'])
    assert.deepEqual(priced([best, 5000, 0.1]), ['rates refusal'], 'below it costs the annual_rate of 0.2')
    assert.deepEqual(priced([best, 0, 0.1], [second, 0, 0.1], [best, 5000, 0.15]), ['rates refusal'])
    assert.deepEqual(priced([best, 0, 0.1], [best, 5000, 0.12], [best, 5000, 0.13]), ['2 refusal'])
  })

  it('have no rate from an amount that is never lent', () => {
    const rates = [{ tier: document.tiers[0]!.tier, from: 5000, annual_rate: 0.3 }]
    const reason = { code: 'over_maximum', label: 'Over the maximum' }
    const limit = { ...document.limit, over_maximum: reason }
    const problemsOf = (maximum: number) =>
      checkProducts({ ...document, limit, products: [{ ...document.products[0]!, annual_rate: 0.3, rates, maximum }] })
    assert.deepEqual(
      problemsOf(4999).map(({ path }) => path.at(-1)),
      ['from'],
    )
    // The other tiers cost 0.3 as well, so from 5,000 on nothing is dearer than a worse tier.
    assert.deepEqual(problemsOf(5000), [])
  })

  it('list the term without a choice once', () => {
    assert.deepEqual(said({ term_months: 24, term_choices: [12, 36] }), [])
    assert.deepEqual(said({ term_months: 24, term_choices: [12, 24] }), ['1 refusal'])
  })
})
