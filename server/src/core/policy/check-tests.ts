import type { FactValue } from '../facts/facts.ts'
import { findFeature, isMeasured } from '../facts/feature-catalogue.ts'
import type { PolicyDocument, PolicyInput } from './policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds facts in a policy's own tests that no decision reads: such a test does not test what it seems to. */
export function checkTests({ tests, inputs }: PolicyDocument): PolicyProblem[] {
  return tests.flatMap(({ facts }, index) =>
    Object.entries(facts).flatMap(([feature, value]) => {
      const message = factProblem(feature, value, inputs)
      return message === undefined ? [] : [{ path: ['tests', index, 'facts', feature], message }]
    }),
  )
}

function factProblem(feature: string, value: FactValue, inputs: readonly PolicyInput[]): string | undefined {
  if (isMeasured(feature)) return `${feature} is computed when deciding; set request.amount instead`
  // A feature that callers send has only the type that the policy gives it.
  const isSnapshot = feature.startsWith('snapshot.')
  const known = isSnapshot ? inputs.find((input) => input.feature === feature) : findFeature(feature)
  if (known === undefined && isSnapshot) return `${feature} is not among the inputs of this policy`
  if (known === undefined) return `there is no feature '${feature}' in the catalogue`
  return typeof value === known.type ? undefined : `${feature} is a ${known.type}`
}
