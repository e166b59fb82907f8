import type { PolicyProblem } from '../check/policy-problem.ts'
import type { PolicyDocument } from '../policy-document.ts'

type LimitTermDefinition = PolicyDocument['limit']['terms'][number]

/** The expression of a term, and whether it stands for a monthly instalment or for an amount. */
export function limitExpression({ instalment, amount }: LimitTermDefinition): {
  source: string
  field: 'instalment' | 'amount'
} {
  return instalment === undefined
    ? { source: amount ?? '', field: 'amount' }
    : { source: instalment, field: 'instalment' }
}

/** The problem of the expression of a term, with its column. */
export function limitProblem(
  definition: LimitTermDefinition,
  { index, offset, message }: { index: number; offset: number; message: string },
): PolicyProblem {
  const { field } = limitExpression(definition)
  const where = `limit term '${definition.term}', column ${offset + 1}`
  return { path: ['limit', 'terms', index, field], offset, message: `${where}: ${message}` }
}
