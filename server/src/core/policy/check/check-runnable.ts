import { kindOf } from '../compile/compile-products.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { SEGMENT_PARTS } from '../segment-document.ts'
import type { PolicyProblem } from './policy-problem.ts'
import { inSegment } from './segment-problem.ts'

/** Finds problems that make deciding impossible; stored policies are checked for nothing else. */
export function checkRunnable(document: PolicyDocument): PolicyProblem[] {
  return [...runnableParts(document), ...inSegment(document, { check: runnableParts, reads: SEGMENT_PARTS })]
}

function runnableParts(document: PolicyDocument): PolicyProblem[] {
  return [
    ...checkScoredInputs(document),
    ...checkProbability(document),
    ...checkLastTier(document),
    ...checkDefaultProduct(document),
    ...checkCreditTerms(document),
  ]
}

function checkScoredInputs(document: PolicyDocument): PolicyProblem[] {
  const known = readableFeatures(document)
  return document.scorecard.characteristics.flatMap(({ feature }, index) => {
    const path = ['scorecard', 'characteristics', index, 'feature']
    const message = `${feature} is not among the inputs of this policy; add it there, or under derived`
    return known.has(feature) ? [] : [{ path, message }]
  })
}

function checkProbability(document: PolicyDocument): PolicyProblem[] {
  const { characteristics, probability, external_probability: feature } = document.scorecard
  if (feature === undefined)
    return probability === undefined && characteristics.length > 0
      ? [{ path: ['scorecard'], message: "add a 'probability' table, or name an 'external_probability'" }]
      : []
  if (readableFeatures(document).has(feature)) return []
  const message = `${feature} is not among the inputs of this policy; add it there, or under derived`
  return [{ path: ['scorecard', 'external_probability'], message }]
}

function readableFeatures({ inputs, derived = [] }: PolicyDocument): ReadonlySet<string> {
  return new Set([...inputs, ...derived].map(({ feature }) => feature))
}

function checkLastTier({ tiers }: PolicyDocument): PolicyProblem[] {
  const last = tiers.at(-1)
  if (last !== undefined && last.from === undefined) return []
  return [{ path: ['tiers'], message: "the last tier must be without a 'from', so that it takes all other scores" }]
}

function checkDefaultProduct({ products }: PolicyDocument): PolicyProblem[] {
  if (products.some(({ product }) => product === 'default')) return []
  return [{ path: ['products'], message: "one product must be named 'default'" }]
}

function checkCreditTerms({ products }: PolicyDocument): PolicyProblem[] {
  return products.flatMap((product, index) => {
    if (kindOf(product) === 'access') return []
    const lacking = (['term_months', 'annual_rate'] as const).filter((field) => product[field] === undefined)
    if (lacking.length === 0) return []
    const message = `'${product.product}' is credit and has no ${lacking.join(' and no ')}; add it, or write 'kind: access' for access without credit`
    return [{ path: ['products', index], message }]
  })
}
