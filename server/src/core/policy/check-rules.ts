import { checkExpression } from './check-expression.ts'
import { compileExpression } from './compile-expression.ts'
import { expressionEnvironment } from './expression-environment.ts'
import { refusedForPayments } from './payment-features.ts'
import type { PolicyDocument, PolicyRule } from './policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds rules that do not compile, name something undefined, or decline by a feature that includes payments. */
export function checkRules(document: PolicyDocument): PolicyProblem[] {
  const { rules, inputs } = document
  const slotOf = new Map(inputs.map(({ feature }, slot) => [feature, slot]))
  const environment = expressionEnvironment(inputs)
  return rules.flatMap((rule, index) => {
    const wrong = checkExpression(rule.when, { environment, slotOf })
    const when = wrong
      ? [expressionProblem(rule, { ...wrong, index })]
      : paymentProblems(document, rule, { index, slotOf })
    return [...conditionProblems(rule, index), ...coverProblems(document, rule, index), ...when]
  })
}

/** The problem of an expression, with its rule and column. */
export function expressionProblem(
  { id }: PolicyRule,
  { index, offset, message }: { index: number; offset: number; message: string },
): PolicyProblem {
  return { path: ['rules', index, 'when'], offset, message: `rule '${id}', column ${offset + 1}: ${message}` }
}

function conditionProblems({ id, then, condition }: PolicyRule, index: number): PolicyProblem[] {
  const needsCondition = then === 'condition'
  if (needsCondition === (condition !== undefined)) return []
  const message = needsCondition
    ? `rule '${id}' sets a condition; say which, as 'condition'`
    : `rule '${id}' does not set a condition; remove 'condition'`
  return [{ path: ['rules', index], message }]
}

function coverProblems({ scorecard }: PolicyDocument, { covers }: PolicyRule, index: number): PolicyProblem[] {
  if (covers === undefined || scorecard.characteristics.some(({ group }) => group === covers)) return []
  return [{ path: ['rules', index, 'covers'], message: `there is no group '${covers}' in the scorecard` }]
}

function paymentProblems(
  { inputs }: PolicyDocument,
  { id, when, then }: PolicyRule,
  { index, slotOf }: { index: number; slotOf: ReadonlyMap<string, number> },
): PolicyProblem[] {
  const compiled = compileExpression(when, slotOf)
  if (then !== 'decline' || !('reads' in compiled)) return []
  return compiled.reads.flatMap((slot) => {
    const refusal = refusedForPayments(inputs[slot]!.feature)
    return refusal === undefined ? [] : [{ path: ['rules', index, 'when'], message: `rule '${id}': ${refusal}` }]
  })
}
