import { type FeatureDefinition, findFeature, isMeasured, needsMissingReason } from '../../facts/feature-catalogue.ts'
import type { PolicyDocument, PolicyInput } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds inputs that are not in the catalogue or have another type there, and reason codes that are not defined. */
export function checkInputs(document: PolicyDocument): PolicyProblem[] {
  const codes = new Set(document.missing_reasons.map(({ code }) => code))
  const scored = scoredFeatures(document)
  return document.inputs.flatMap((input, index) => {
    const definition = findFeature(input.feature)
    const problem =
      catalogueProblem(input, definition) ??
      silenceProblem(input, definition, scored) ??
      ageProblem(input, definition) ??
      reasonProblem(input, codes)
    return problem === undefined ? [] : [{ path: ['inputs', index, problem.field], message: problem.message }]
  })
}

interface InputProblem {
  field: keyof PolicyInput
  message: string
}

function catalogueProblem(
  { feature, type }: PolicyInput,
  definition: FeatureDefinition | undefined,
): InputProblem | undefined {
  if (definition === undefined && !feature.startsWith('snapshot.')) {
    const message = `there is no feature '${feature}' in the catalogue; write snapshot.<name> for one that you send`
    return { field: 'feature', message }
  }
  if (definition !== undefined && definition.type !== type) {
    return { field: 'type', message: `${feature} is a ${definition.type}` }
  }
  return undefined
}

/** Only a characteristic gives the reason for a missing feature, so only scored features have to name one. */
export function silenceProblem(
  { feature, missing }: { feature: string; missing?: string | undefined },
  definition: FeatureDefinition | undefined,
  scored: ReadonlySet<string>,
): InputProblem | undefined {
  if (missing !== undefined || !scored.has(feature) || !givesMissingReason(definition)) return undefined
  const message = `${feature} can be missing and is scored; name the reason to show then, as 'missing', from missing_reasons`
  return { field: 'feature', message }
}

/** Whether the characteristic of a feature can give a reason for its absence; features outside the catalogue always can. */
function givesMissingReason(definition: FeatureDefinition | undefined): boolean {
  return definition === undefined || needsMissingReason(definition)
}

/** The features of all scorecards: of the document and of its segments. */
export function scoredFeatures({ scorecard, segments = [] }: PolicyDocument): ReadonlySet<string> {
  const cards = [scorecard, ...segments.flatMap((segment) => segment.scorecard ?? [])]
  return new Set(cards.flatMap(({ characteristics }) => characteristics.map(({ feature }) => feature)))
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
      return { field, message: `'${code}' is not among the missing_reasons; add it there with a label` }
    }
  }
  return undefined
}

/** Warns of reasons for missing data that no decision can give: they promise a safeguard that does not exist. */
export function checkMissingReasons(document: PolicyDocument): PolicyProblem[] {
  const { missing_reasons, inputs, derived = [], rules, after_score = [], tables = [], segments = [] } = document
  const scored = scoredFeatures(document)
  const used = new Set<string | undefined>(
    [{ rules, after_score }, ...segments].flatMap((part) =>
      [...(part.rules ?? []), ...(part.after_score ?? [])].map(({ reason }) => reason.code),
    ),
  )
  for (const { rows } of [...tables, ...segments.flatMap((segment) => segment.tables ?? [])])
    for (const { reason } of rows) used.add(reason?.code)
  for (const { feature, missing, withheld, other_currency } of inputs) {
    if (scored.has(feature) && givesMissingReason(findFeature(feature)))
      for (const code of [missing, withheld, other_currency]) used.add(code)
  }
  for (const { feature, missing } of derived) if (scored.has(feature)) used.add(missing)
  return missing_reasons.flatMap(({ code }, index): PolicyProblem[] => {
    const message = `no characteristic of the scorecard and no rule ever gives '${code}'; remove it, or score a feature that names it, or give it by a rule with !has(…)`
    return used.has(code) ? [] : [{ path: ['missing_reasons', index], message, isWarning: true }]
  })
}
