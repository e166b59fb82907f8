import { derivedProblem, slotsAbove } from '../compile/compile-derived.ts'
import { policySlots } from '../compile/policy-slots.ts'
import { checkExpression } from '../expression/check-expression.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import { matchesIn } from '../expression/matches-in.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { scoredFeatures, silenceProblem } from './check-inputs.ts'
import { dependsOnAmount } from './check-limit.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds derived features that do not compile, are of another type than they say, or read one that comes later. */
export function checkDerived(document: PolicyDocument): PolicyProblem[] {
  const { derived = [], inputs, missing_reasons } = document
  const slots = policySlots(document)
  const scored = scoredFeatures(document)
  const codes = new Set(missing_reasons.map(({ code }) => code))
  return derived.flatMap(({ feature, type, value, missing }, index) => {
    const slotOf = slotsAbove(slots, inputs.length + index)
    const wrong = checkExpression(value, { slotOf, types: slots.types, type })
    if (wrong) return [derivedProblem(feature, { index, ...wrong })]
    const silence = silenceProblem({ feature, missing }, undefined, scored)
    if (silence !== undefined) return [{ path: ['derived', index, silence.field], message: silence.message }]
    const compiled = matchesIn(value).length > 0 ? compileExpression(value, slotOf) : undefined
    const reads = compiled !== undefined && 'reads' in compiled ? compiled.reads : []
    if (dependsOnAmount(document, reads, slots) !== undefined)
      return [derivedProblem(feature, { index, offset: 0, message: RUN_FOR_EACH_AMOUNT })]
    if (missing === undefined || codes.has(missing)) return []
    const message = `'${missing}' is not among the missing_reasons; add it there with a label`
    return [{ path: ['derived', index, 'missing'], message }]
  })
}

const RUN_FOR_EACH_AMOUNT =
  'a feature that depends on the amount is computed for each amount; put matches into a derived feature of its own'
