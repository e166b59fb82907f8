import type { PolicyDocument } from './policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds problems that make deciding impossible; stored policies are checked for nothing else. */
export function checkRunnable(document: PolicyDocument): PolicyProblem[] {
  return [...checkScoredInputs(document), ...checkLastTier(document), ...checkDefaultProduct(document)]
}

function checkScoredInputs({ scorecard, inputs }: PolicyDocument): PolicyProblem[] {
  const known = new Set(inputs.map(({ feature }) => feature))
  return scorecard.characteristics.flatMap(({ feature }, index) => {
    const path = ['scorecard', 'characteristics', index, 'feature']
    return known.has(feature) ? [] : [{ path, message: `${feature} is not among the inputs of this policy` }]
  })
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
