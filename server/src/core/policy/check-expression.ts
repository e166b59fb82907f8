import type { ASTNode, Environment } from '@marcbachmann/cel-js'
import { compileExpression, type ExpressionProblem, problemOf } from './compile-expression.ts'

/** The first problem of a new condition: an unknown name, a wrong type, or a part that is misleading. */
export function checkExpression(
  source: string,
  { environment, slotOf }: { environment: Environment; slotOf: ReadonlyMap<string, number> },
): ExpressionProblem | undefined {
  const compiled = compileExpression(source, slotOf)
  if ('message' in compiled) return compiled
  const parsed = environment.parse(source)
  const misleading = misleadingPart(parsed.ast)
  if (misleading) return misleading
  const { error, type } = parsed.check()
  if (error) return problemOf(error)
  return type === 'bool' ? undefined : { offset: 0, message: `must be true or false, but is of type ${type}` }
}

/** The first part that does not mean what it seems to. */
function misleadingPart(node: ASTNode): ExpressionProblem | undefined {
  const problem = misleadingHere(node)
  if (problem) return problem
  for (const part of partsOf(node)) {
    const found = misleadingPart(part)
    if (found) return found
  }
  return undefined
}

function misleadingHere(node: ASTNode): ExpressionProblem | undefined {
  const { op, start: offset } = node
  if (op === 'list') return { offset, message: "a list can only stand to the right of 'in'" }
  if (op === '/' && node.args.every(isWhole)) {
    const message = 'whole numbers divide to whole numbers in CEL; write one of them with a decimal point'
    return { offset, message }
  }
  return undefined
}

/** The operands of a node, except the list to the right of `in`. */
function partsOf(node: ASTNode): ASTNode[] {
  if (node.op === 'in' && node.args[1].op === 'list') return [node.args[0]]
  return [node.args].flat(2).filter((part) => typeof part === 'object' && part !== null && 'op' in part)
}

function isWhole(node: ASTNode): boolean {
  if (node.op === 'value') return typeof node.args === 'bigint'
  if (node.op === '-_') return isWhole(node.args)
  const isArithmetic = node.op === '+' || node.op === '-' || node.op === '*'
  return isArithmetic && isWhole(node.args[0]) && isWhole(node.args[1])
}
