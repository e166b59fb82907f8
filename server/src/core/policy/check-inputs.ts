import { type FeatureDefinition, findFeature, isMeasured } from '../facts/feature-catalogue.ts'
import type { PolicyDocument, PolicyInput } from './policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds inputs that are not in the catalogue or have another type there, and reason codes that are not defined. */
export function checkInputs({ inputs, missing_reasons }: PolicyDocument): PolicyProblem[] {
  const codes = new Set(missing_reasons.map(({ code }) => code))
  return inputs.flatMap((input, index) => {
    const definition = findFeature(input.feature)
    const problem = catalogueProblem(input, definition) ?? ageProblem(input, definition) ?? reasonProblem(input, codes)
    return problem === undefined ? [] : [{ path: ['inputs', index, problem.field], message: problem.message }]
  })
}

interface InputProblem {
  field: keyof PolicyInput
  message: string
}

function catalogueProblem(
  { feature, type, missing }: PolicyInput,
  definition: FeatureDefinition | undefined,
): InputProblem | undefined {
  if (definition === undefined && !feature.startsWith('snapshot.')) {
    return { field: 'feature', message: `there is no feature '${feature}' in the catalogue` }
  }
  if (definition !== undefined && definition.type !== type) {
    return { field: 'type', message: `${feature} is a ${definition.type}` }
  }
  const canBeMissing = definition?.can_be_missing ?? true
  if (!canBeMissing || missing !== undefined) return undefined
  return { field: 'feature', message: `${feature} can be missing; name the reason to show then, as 'missing'` }
}

/** Refuses a `max_age_days` that can never take effect, because it would look like a safeguard without being one. */
function ageProblem(
  { feature, max_age_days }: PolicyInput,
  definition: FeatureDefinition | undefined,
): InputProblem | undefined {
  if (max_age_days === undefined) return undefined
  if (isMeasured(feature)) {
    const message = `${feature} is as old as the cash flow it is measured against; set max_age_days there`
    return { field: 'max_age_days', message }
  }
  if (definition?.half_life_days !== null) return undefined
  return { field: 'max_age_days', message: `${feature} does not age; remove 'max_age_days'` }
}

function reasonProblem(input: PolicyInput, codes: ReadonlySet<string>): InputProblem | undefined {
  for (const field of ['missing', 'withheld', 'other_currency'] as const) {
    const code = input[field]
    if (code !== undefined && !codes.has(code)) {
      return { field, message: `'${code}' is not among the missing_reasons` }
    }
  }
  return undefined
}

/** Finds reasons for missing data that no decision can give: they promise a safeguard that does not exist. */
export function checkMissingReasons({ missing_reasons, inputs, rules, scorecard }: PolicyDocument): PolicyProblem[] {
  const scored = new Set(scorecard.characteristics.map(({ feature }) => feature))
  const used = new Set<string | undefined>(rules.map(({ reason }) => reason.code))
  for (const { feature, missing, withheld, other_currency } of inputs) {
    if (scored.has(feature)) for (const code of [missing, withheld, other_currency]) used.add(code)
  }
  return missing_reasons.flatMap(({ code }, index) => {
    const message = `no characteristic of the scorecard and no rule ever gives '${code}'`
    return used.has(code) ? [] : [{ path: ['missing_reasons', index], message }]
  })
}
