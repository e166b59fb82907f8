import { kindOf } from '../compile/compile-products.ts'
import { largestLent, smallestLent } from '../compile/product-bounds.ts'
import type { PolicyDocument, PolicyProduct } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** The highest annual rate of a credit: payday loans reach 400 %; above it, a percentage was written without its point. */
const RATE_MAX = 4
const RATE_UNUSUAL = 1
const FEE_RATE_MAX = 0.5

/**
 * Finds terms of credit on access, prices that cannot be meant, prices of unknown tiers, better tiers that cost more, larger amounts
 * that cost less, terms that are listed twice, and bounds without a reason.
 */
export function checkProducts({ products, tiers, limit }: PolicyDocument): PolicyProblem[] {
  const names = tiers.map(({ tier }) => tier)
  return products.flatMap((product, index) => {
    const path = ['products', index]
    if (kindOf(product) === 'access') return accessProblems(product, path)
    return [
      ...rateProblems(product, path),
      ...priceProblems(product, names, path),
      ...choiceProblems(product, path),
      ...boundProblems(product, limit, path),
    ]
  })
}

/** Access has no amount, so terms of credit beside it would promise what no decision applies. */
function accessProblems({ product, kind: _, ...terms }: PolicyProduct, path: (string | number)[]): PolicyProblem[] {
  return Object.keys(terms).map((field) => ({
    path: [...path, field],
    message: `'${product}' is access and has no amount; remove '${field}', or write 'kind: credit'`,
  }))
}

function rateProblems(product: PolicyProduct, path: (string | number)[]): PolicyProblem[] {
  const rates = [
    { rate: product.annual_rate ?? 0, at: [...path, 'annual_rate'] },
    ...(product.rates ?? []).map(({ annual_rate }, index) => ({
      rate: annual_rate,
      at: [...path, 'rates', index, 'annual_rate'],
    })),
  ]
  const problems = rates.flatMap(({ rate, at }): PolicyProblem[] => {
    const percent = `an annual rate of ${rate} is ${Math.round(rate * 1000) / 10} %`
    if (rate > RATE_MAX) return [{ path: at, message: `${percent}; write 0.07 for 7 %` }]
    if (rate <= RATE_UNUSUAL) return []
    return [{ path: at, message: `${percent}; if that is not meant, write 0.07 for 7 %`, isWarning: true }]
  })
  if ((product.fee_rate ?? 0) <= FEE_RATE_MAX) return problems
  const message = `a fee of ${product.fee_rate} is more than half of the amount; write 0.02 for 2 %`
  return [...problems, { path: [...path, 'fee_rate'], message }]
}

function priceProblems(product: PolicyProduct, tiers: readonly string[], path: (string | number)[]): PolicyProblem[] {
  const { rates = [], maximum } = product
  const unknown = rates.flatMap(({ tier }, index) => {
    const message = `there is no tier '${tier}'; write one of ${tiers.join(', ')}`
    return tiers.includes(tier) ? [] : [{ path: [...path, 'rates', index, 'tier'], message }]
  })
  if (unknown.length > 0) return unknown
  const isSame = (one: Rate, other: Rate) => one.tier === other.tier && one.from === other.from
  const twice = rates.findIndex((rate, index) => rates.findIndex((one) => isSame(one, rate)) < index)
  if (twice >= 0) {
    const { tier, from } = rates[twice]!
    const what = from === undefined ? `'${tier}'` : `'${tier}' from ${from}`
    return [{ path: [...path, 'rates', twice], message: `${what} is there twice; remove one` }]
  }
  const unreached = rates.flatMap(({ from }, index): PolicyProblem[] => {
    if (from === undefined || maximum === undefined || from <= maximum) return []
    const message = `no amount is lent from ${from} on, which is above the maximum of ${maximum}; remove the rate`
    return [{ path: [...path, 'rates', index, 'from'], message }]
  })
  return [...unreached, ...dearerProblems(product, tiers, path)]
}

type Rate = NonNullable<PolicyProduct['rates']>[number]

/** Finds a better tier that costs more than a worse one, and a larger amount that costs less than a smaller one. */
function dearerProblems(
  { product, annual_rate: listed = 0, rates = [] }: PolicyProduct,
  tiers: readonly string[],
  path: (string | number)[],
): PolicyProblem[] {
  const amounts = [...new Set([0, ...rates.map(({ from = 0 }) => from)])].sort((a, b) => a - b)
  const own = new Set(rates.map(({ tier }) => tier))
  const priceAt = (tier: string, amount: number) =>
    rates
      .filter((rate) => rate.tier === tier && (rate.from ?? 0) <= amount)
      .reduce<Rate | undefined>((last, rate) => ((last?.from ?? 0) > (rate.from ?? 0) ? last : rate), undefined)
      ?.annual_rate ?? listed
  for (const [position, amount] of amounts.entries()) {
    const prices = tiers.map((tier) => priceAt(tier, amount))
    const from = amount === 0 ? '' : ` from ${amount} on`
    const cheaper = prices.findIndex((price, index) => index > 0 && price < prices[index - 1]!)
    if (cheaper >= 0) {
      const better = tiers[cheaper - 1]!
      const unlisted = own.has(better) ? '' : `, which is not listed and costs the annual_rate of ${listed}`
      const message = `product '${product}': tier '${tiers[cheaper]}' costs less${from} than a better tier, '${better}'${unlisted}; lower the rate of the better one`
      return [{ path: [...path, 'rates'], message }]
    }
    const falls = tiers.find((tier, index) => position > 0 && prices[index]! < priceAt(tier, amounts[position - 1]!))
    if (falls === undefined) continue
    // The search for a counter-offer relies on it: an amount that is approved has no smaller one that is not.
    const message = `product '${product}': tier '${falls}' costs less${from}, so a larger amount could be approved where a smaller one is not; let the rate rise with the amount, or list a product of its own for large amounts`
    return [{ path: [...path, 'rates'], message }]
  }
  return []
}

function choiceProblems({ term_months, term_choices = [] }: PolicyProduct, path: (string | number)[]): PolicyProblem[] {
  const index = term_choices.indexOf(term_months!)
  if (index < 0) return []
  const message = `${term_months} months are the term without a choice, and may be chosen anyway; remove them here`
  return [{ path: [...path, 'term_choices', index], message }]
}

function boundProblems(
  { product, minimum, maximum }: PolicyProduct,
  { over_maximum, under_minimum, currencies }: PolicyDocument['limit'],
  path: (string | number)[],
): PolicyProblem[] {
  const problems: PolicyProblem[] = []
  if (maximum !== undefined && over_maximum === undefined)
    problems.push({ path: [...path, 'maximum'], message: `add the reason to give then, as limit.over_maximum` })
  if (minimum !== undefined && under_minimum === undefined)
    problems.push({ path: [...path, 'minimum'], message: `add the reason to give then, as limit.under_minimum` })
  if (minimum !== undefined && maximum !== undefined && minimum > maximum)
    problems.push({ path: [...path, 'minimum'], message: `the minimum of '${product}' is above its maximum; lower it` })
  return problems.length > 0 || maximum === undefined
    ? problems
    : unlentIn(currencies, { product, minimum, maximum }, path)
}

/** Finds currencies in which rounding to the step leaves no amount between the bounds. */
function unlentIn(
  currencies: PolicyDocument['limit']['currencies'],
  { product, minimum = 0, maximum }: { product: string; minimum: number | undefined; maximum: number },
  path: (string | number)[],
): PolicyProblem[] {
  return currencies.flatMap(({ currency, per_reference: perReference, step }) => {
    const smallest = smallestLent(minimum, { perReference, step })
    const largest = largestLent(maximum, { perReference, step })
    if (smallest <= largest) return []
    const message = `in ${currency} the smallest amount of '${product}' is ${smallest}, by a step of ${step}, above its maximum of ${largest}; raise the maximum`
    return [{ path: [...path, 'maximum'], message }]
  })
}
