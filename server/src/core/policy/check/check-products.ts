import { kindOf } from '../compile/compile-products.ts'
import { largestLent, smallestLent } from '../compile/product-bounds.ts'
import type { PolicyDocument, PolicyProduct } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** The highest annual rate of a credit: payday loans reach 400 %; above it, a percentage was written without its point. */
const RATE_MAX = 4
const RATE_UNUSUAL = 1
const FEE_RATE_MAX = 0.5

/**
 * Finds terms of credit on access, prices that cannot be meant, prices of unknown tiers, better tiers that cost more, and
 * bounds without a reason.
 */
export function checkProducts({ products, tiers, limit }: PolicyDocument): PolicyProblem[] {
  const names = tiers.map(({ tier }) => tier)
  return products.flatMap((product, index) => {
    const path = ['products', index]
    if (kindOf(product) === 'access') return accessProblems(product, path)
    return [
      ...rateProblems(product, path),
      ...tierProblems(product, names, path),
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

function tierProblems(
  { product, annual_rate: listed = 0, rates = [] }: PolicyProduct,
  tiers: readonly string[],
  path: (string | number)[],
): PolicyProblem[] {
  const unknown = rates.flatMap(({ tier }, index) => {
    const message = `there is no tier '${tier}'; write one of ${tiers.join(', ')}`
    return tiers.includes(tier) ? [] : [{ path: [...path, 'rates', index, 'tier'], message }]
  })
  if (unknown.length > 0) return unknown
  const twice = rates.findIndex(({ tier }, index) => rates.findIndex((one) => one.tier === tier) < index)
  if (twice >= 0)
    return [{ path: [...path, 'rates', twice], message: `'${rates[twice]!.tier}' is there twice; remove one` }]
  const ownRates = new Map(rates.map(({ tier, annual_rate }) => [tier, annual_rate]))
  const prices = tiers.map((tier) => ownRates.get(tier) ?? listed)
  const cheaper = prices.findIndex((price, index) => index > 0 && price < prices[index - 1]!)
  if (cheaper === -1) return []
  const better = tiers[cheaper - 1]!
  const unlisted = ownRates.has(better) ? '' : `, which is not listed and costs the annual_rate of ${listed}`
  const message = `product '${product}': tier '${tiers[cheaper]}' costs less than a better tier, '${better}'${unlisted}; lower the rate of the better one`
  return [{ path: [...path, 'rates'], message }]
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
