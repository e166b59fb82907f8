import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileProducts } from './compile-products.ts'

const YEAR = { product: 'year', term_months: 12, annual_rate: 0.12 }

const NO_TERMS = { kind: 'access', term_months: 0, annual_rate: 0, annuityFactor: 0 }

describe('the compiled terms of a product', () => {
  it('have no fees, no minimum and no maximum where the policy states none', () => {
    assert.deepEqual(compileProducts([{ ...YEAR, annual_rate: 0 }]).get('year'), {
      product: 'year',
      kind: 'credit',
      term_months: 12,
      annual_rate: 0,
      annuityFactor: 12,
      feeRate: 0,
      feeAmount: 0,
      minimum: 0,
      maximum: undefined,
      byTier: undefined,
      byTerm: undefined,
    })
  })

  it('are all zero for access, whatever the default product has', () => {
    const { kind, term_months, annual_rate, annuityFactor } = compileProducts([
      { product: 'default', term_months: 12, annual_rate: 0.12 },
      { product: 'entry', kind: 'access' },
    ]).get('entry')!
    assert.deepEqual({ kind, term_months, annual_rate, annuityFactor }, NO_TERMS)
  })

  it('have the fees and bounds that the policy states', () => {
    const stated = { ...YEAR, fee_rate: 0.02, fee_amount: 30, minimum: 500, maximum: 4000 }
    const { feeRate, feeAmount, minimum, maximum } = compileProducts([stated]).get('year')!
    assert.deepEqual([feeRate, feeAmount, minimum, maximum], [0.02, 30, 500, 4000])
  })

  it('discount each instalment by the monthly rate, from the first month on', () => {
    const factor = (termMonths: number) =>
      compileProducts([{ ...YEAR, term_months: termMonths }]).get('year')!.annuityFactor
    assert.equal(factor(1), 1 / 1.01)
    assert.ok(Math.abs(factor(12) - (1 - 1.01 ** -12) / 0.01) < 1e-9)
  })

  it('have the rate of a tier where the policy states one, and share all else', () => {
    const { byTier, ...terms } = compileProducts([{ ...YEAR, rates: [{ tier: 'A', annual_rate: 0 }] }]).get('year')!
    assert.deepEqual([...byTier!.keys()], ['A'])
    assert.deepEqual(byTier!.get('A'), [
      { from: 0, terms: { ...terms, annual_rate: 0, annuityFactor: 12, byTier: undefined } },
    ])
  })

  it('have the prices of a tier from the smallest amount on, however they are listed', () => {
    const rates = [900, undefined, 30].map((from, index) => ({
      tier: 'A',
      annual_rate: index / 10,
      ...(from && { from }),
    }))
    const { byTier } = compileProducts([{ ...YEAR, rates }]).get('year')!
    assert.deepEqual(
      byTier!.get('A')!.map(({ from, terms }) => [from, terms.annual_rate]),
      [
        [0, 0.1],
        [30, 0.2],
        [900, 0],
      ],
    )
  })

  it('have those of each term that may be chosen, with the same prices', () => {
    const rates = [{ tier: 'A', annual_rate: 0 }]
    const { byTerm } = compileProducts([{ ...YEAR, term_choices: [6, 24], rates }]).get('year')!
    assert.deepEqual([...byTerm!.keys()], [6, 24])
    const { term_months, annual_rate, byTier } = byTerm!.get(24)!
    assert.deepEqual([term_months, annual_rate, byTier!.get('A')![0]!.terms.annuityFactor], [24, 0.12, 24])
  })
})
