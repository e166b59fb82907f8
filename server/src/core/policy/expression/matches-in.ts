import type { ASTNode } from '@marcbachmann/cel-js'
import { parseExpression } from './compile-expression.ts'
import { operandsOf } from './type-expression.ts'

/** The patterns of the calls of `matches` in an expression; none if it does not parse, as its compiler reports. */
export function matchesIn(source: string): string[] {
  if (!source.includes('matches')) return []
  try {
    return patternsIn(parseExpression(source))
  } catch {
    return []
  }
}

function patternsIn(node: ASTNode): string[] {
  const isCall = (node.op === 'call' || node.op === 'rcall') && node.args[0] === 'matches'
  const operands = operandsOf(node)
  const pattern = isCall ? operands.at(-1) : undefined
  const inOperands = operands.flatMap(patternsIn)
  return pattern === undefined ? inOperands : [...inOperands, String(pattern.args)]
}
