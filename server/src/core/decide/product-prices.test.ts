import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, codesOf, type Values } from '../../../tests/ask-policy.ts'
import { editedPolicy, withTerms } from '../../../tests/edited-policy.ts'

describe('prices', () => {
  const OVER = { code: 'over_maximum', label: 'Amount requested exceeds the largest amount of the product' }
  const UNDER = { code: 'under_minimum', label: 'Amount requested is below the smallest amount of the product' }
  const policy = editedPolicy(({ products, limit }) => ({
    limit: { ...limit, over_maximum: OVER, under_minimum: UNDER },
    products: [
      ...products,
      {
        product: 'card',
        term_months: 12,
        annual_rate: 0.2,
        rates: [
          { tier: 'A+', annual_rate: 0.1 },
          { tier: 'A', annual_rate: 0.12 },
          { tier: 'A-', annual_rate: 0.14 },
        ],
        fee_rate: 0.02,
        fee_amount: 30,
        minimum: 500,
        maximum: 4000,
      },
    ],
  }))
  const card = (amount: number, values: Values = {}) =>
    ask(policy, { 'request.product': 'card', 'request.amount': amount, ...values })

  it('depend on the tier, and the limit is computed at the price of the tier', () => {
    assert.deepEqual(card(2000).terms, {
      segment: null,
      product: 'card',
      requested_product: 'card',
      tier: 'A-',
      term_months: 12,
      annual_rate: 0.14,
      fee_rate: 0.02,
      fee_amount: 30,
      instalment: 185.86,
    })
    const better = card(2000, { 'history.repaid': 1 })
    assert.deepEqual([better.terms.tier, better.terms.annual_rate], ['A', 0.12])
    const worse = card(2000, { 'history.late': 3 })
    assert.deepEqual([worse.terms.tier, worse.terms.annual_rate], ['B+', 0.2], 'a tier that is not listed')
  })

  it('include fees: the instalment repays them, and the limit leaves room for them', () => {
    const { trace } = card(2000)
    // Measured before the tier is known, at the listed rate: 12 instalments at 20 %.
    assert.deepEqual(trace.request['request.instalment'], { value: 191.75 })
    const withoutRate = card(2000, { 'request.currency': 'XAU' })
    assert.deepEqual(withoutRate.trace.request['request.instalment'], { value: 191.75 })
    const income = trace.limit?.terms.find(({ term }) => term === 'debt')?.amount ?? 0
    const factor = policy.products.get('card')!.byTier!.get('A-')![0]!.terms.annuityFactor
    assert.equal(income, Math.floor(((0.3 * (4200 + 9000 / 60) * factor - 30) / 1.02) * 100) / 100)
  })

  it('bound the amount: more is met with the maximum, less than the minimum is declined', () => {
    const much = card(9000)
    assert.deepEqual(
      [much.verdict, much.limit, much.trace.limit?.binding],
      ['approve_with_conditions', 4000, 'maximum'],
    )
    assert.ok(codesOf(much).includes('over_maximum'))
    const little = card(400)
    assert.deepEqual(
      [little.verdict, little.trace.settled_by, codesOf(little)[0]],
      ['decline', 'no_limit_left', 'under_minimum'],
    )
    assert.equal(card(500).verdict, 'approve')
  })

  it('make no counter-offer below the minimum of the product', () => {
    const indebted = { 'cashflow.monthly_debt_service': 1280 }
    const declined = card(4000, indebted)
    const room = declined.trace.limit?.terms.find(({ term }) => term === 'debt')?.amount ?? 0
    assert.ok(room > 50 && room < 500, String(room))
    assert.deepEqual([declined.verdict, declined.limit, codesOf(declined)[0]], ['decline', null, 'debt_too_high'])
    assert.equal(ask(policy, { ...indebted, 'request.amount': 4000 }).limit, 500)
  })

  it('are those of default for a product that the policy does not list, and the terms say so', () => {
    const { terms } = ask(policy, { 'request.product': 'crad' })
    assert.deepEqual([terms.product, terms.requested_product], ['default', 'crad'])
  })

  it('rise with the amount where the policy says so, in the currency of the request', () => {
    const [best] = policy.document.tiers
    const priced = editedPolicy(({ products, limit, tiers }) => ({
      limit: {
        ...limit,
        currencies: [...limit.currencies, { currency: 'XTS', per_reference: 2, step: 100 }],
      },
      tiers: [
        { ...tiers[0]!, from: 0 },
        { tier: 'rest', cap: 1000, balance_multiple: 1 },
      ],
      products: withTerms(products, {
        rates: [
          { tier: best!.tier, from: 1500, annual_rate: 0.1 },
          { tier: best!.tier, annual_rate: 0.06 },
        ],
      }),
    }))
    const rateOf = (amount: number, currency = 'EUR') =>
      ask(priced, { 'request.amount': amount, 'request.currency': currency }).terms.annual_rate
    assert.deepEqual([rateOf(1499.99), rateOf(1500)], [0.06, 0.1])
    assert.deepEqual([rateOf(2999.99, 'XTS'), rateOf(3000, 'XTS')], [0.06, 0.1])
  })

  it('of a smaller offer are those of the amount that is offered, and the limit is computed at them', () => {
    const terms = ({ amountFrom }: { amountFrom: number }) =>
      editedPolicy(({ products, limit }) => ({
        tiers: [{ tier: 'all', cap: 1_000_000, balance_multiple: 1_000 }],
        limit: { ...limit, terms: [{ ...limit.terms[0]!, term: 'flat', instalment: '100' }] },
        after_score: [],
        products: withTerms(products, {
          term_months: 12,
          annual_rate: 0,
          rates: [{ tier: 'all', from: amountFrom, annual_rate: 0.24 }],
        }),
      }))
    // 100 a month for a year repay 1,200 without interest.
    const free = ask(terms({ amountFrom: 5_000 }), { 'request.amount': 6_000 })
    assert.deepEqual([free.limit, free.terms.annual_rate, free.terms.instalment], [1200, 0, 100])
    const dear = ask(terms({ amountFrom: 600 }), { 'request.amount': 6_000 })
    assert.deepEqual([dear.limit, dear.terms.annual_rate], [1050, 0.24])
  })
})

describe('a term that the applicant chooses', () => {
  const policy = editedPolicy(({ products }) => ({
    products: withTerms(products, { term_months: 24, term_choices: [12, 48], annual_rate: 0.12 }),
  }))
  const over = (term: number | undefined, amount = 2_000) =>
    ask(policy, { 'request.amount': amount, ...(term !== undefined && { 'request.term_months': term }) })

  it('makes the instalment, and without a choice the term of the product does', () => {
    const of = (term: number | undefined) => {
      const { terms, trace } = over(term)
      return [terms.term_months, terms.instalment, trace.request['request.instalment']]
    }
    assert.deepEqual(of(12), [12, 177.7, { value: 177.7 }])
    assert.deepEqual(of(48), [48, 52.67, { value: 52.67 }])
    assert.deepEqual(of(undefined), [24, 94.15, { value: 94.15 }])
    assert.deepEqual(of(24), of(undefined))
  })

  it('makes the limit and the counter-offer: the same instalment repays more over a longer term', () => {
    const [short, standard, long] = [12, undefined, 48].map((term) => over(term, 1e6))
    assert.deepEqual(
      [short, standard, long].map((offer) => offer!.terms.term_months),
      [12, 24, 48],
    )
    const amountOf = ({ trace }: ReturnType<typeof over>) =>
      trace.limit!.terms.find(({ term }) => term === 'debt')!.amount
    assert.ok(amountOf(short!) < amountOf(standard!) && amountOf(standard!) < amountOf(long!))
    assert.ok(short!.limit! < long!.limit!, `${short!.limit} ${long!.limit}`)
  })

  it('that the product no longer has, in a decision that is made again, is that of the product', () => {
    assert.equal(over(36).terms.term_months, 24)
  })
})
