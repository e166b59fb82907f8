import type { ASTNode } from '@marcbachmann/cel-js'
import { featureIn, parseExpression } from '../../server/src/core/policy/expression/compile-expression.ts'
import type { PolicyDocument } from '../../server/src/core/policy/policy-document.ts'

/** The comparisons that occur in the sandbox policy. */
export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in'

/** One side of a comparison: a constant, a feature, or arithmetic on them. */
export type Operand =
  | { kind: 'constant'; value: number | string | string[] }
  | { kind: 'feature'; feature: string }
  | { kind: 'arithmetic'; operator: '+' | '-' | '*' | '/'; left: Operand; right: Operand }

/** A rule's condition as plain data, from which the rules of the other engines are generated. */
export type RuleCondition =
  | { kind: 'all' | 'any'; parts: RuleCondition[] }
  | { kind: 'missing' | 'known'; feature: string }
  | { kind: 'compare'; one: Operand; comparator: Comparator; other: Operand }

/** A rule of the policy with its parsed condition. */
export interface PortableRule {
  id: string
  condition: RuleCondition
}

/** Parses the policy's CEL, so that every engine gets exactly the same rules. */
export function portableRules({ rules }: PolicyDocument): PortableRule[] {
  return rules.map(({ id, when }) => ({ id, condition: conditionOf(parseExpression(when)) }))
}

/** The operands of all rules that are neither a feature nor a constant. */
export function computedOperands(document: PolicyDocument): Operand[] {
  const operandsIn = (condition: RuleCondition): Operand[] => {
    if (condition.kind === 'all' || condition.kind === 'any') return condition.parts.flatMap(operandsIn)
    const sides = condition.kind === 'compare' ? [condition.one, condition.other] : []
    return sides.filter(({ kind }) => kind === 'arithmetic')
  }
  return portableRules(document).flatMap(({ condition }) => operandsIn(condition))
}

/** The features that an operand reads. */
export function featuresOf(operand: Operand): string[] {
  if (operand.kind === 'feature') return [operand.feature]
  return operand.kind === 'constant' ? [] : [...featuresOf(operand.left), ...featuresOf(operand.right)]
}

/** An operand as it is written in every language of the comparison. */
export function writtenOperand(operand: Operand): string {
  if (operand.kind === 'constant') return JSON.stringify(operand.value)
  if (operand.kind === 'feature') return operand.feature
  return `(${writtenOperand(operand.left)} ${operand.operator} ${writtenOperand(operand.right)})`
}

/** The number that an operand stands for; null if a feature is missing. */
export function operandValue(operand: Operand, flat: Readonly<Record<string, unknown>>): number | null {
  if (operand.kind === 'constant') return operand.value as number
  if (operand.kind === 'feature') return (flat[operand.feature] as number | null | undefined) ?? null
  const [left, right] = [operandValue(operand.left, flat), operandValue(operand.right, flat)]
  if (left === null || right === null) return null
  const results = { '+': left + right, '-': left - right, '*': left * right, '/': left / right }
  return results[operand.operator]
}

function conditionOf(node: ASTNode): RuleCondition {
  switch (node.op) {
    case '&&':
      return { kind: 'all', parts: node.args.map(conditionOf) }
    case '||':
      return { kind: 'any', parts: node.args.map(conditionOf) }
    case 'call':
      return { kind: 'known', feature: featureOfHas(node) }
    case '!_':
      return { kind: 'missing', feature: featureOfHas(node.args) }
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
    case 'in':
      return {
        kind: 'compare',
        one: operandOf(node.args[0]),
        comparator: node.op,
        other: operandOf(node.args[1]),
      }
    default:
      throw notPortable(node)
  }
}

function featureOfHas(node: ASTNode): string {
  const argument = node.op === 'call' && node.args[0] === 'has' ? node.args[1][0] : undefined
  if (argument === undefined) throw notPortable(node)
  return featureOf(argument)
}

function featureOf(node: ASTNode): string {
  const feature = featureIn(node)
  if (feature === undefined) throw notPortable(node)
  return feature
}

function operandOf(node: ASTNode): Operand {
  switch (node.op) {
    case '.':
      return { kind: 'feature', feature: featureOf(node) }
    case '+':
    case '-':
    case '*':
    case '/':
      return { kind: 'arithmetic', operator: node.op, left: operandOf(node.args[0]), right: operandOf(node.args[1]) }
    default:
      return { kind: 'constant', value: literalOf(node) }
  }
}

function literalOf(node: ASTNode): number | string | string[] {
  if (node.op === 'list') return node.args.map((item) => String(literalOf(item)))
  const value = node.op === 'value' ? node.args : undefined
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number' || typeof value === 'string') return value
  throw notPortable(node)
}

function notPortable(node: ASTNode): Error {
  return new Error(
    `the bench cannot translate '${node.op}' for the other engines; add it to rule-condition.ts: ${node.input}`,
  )
}
