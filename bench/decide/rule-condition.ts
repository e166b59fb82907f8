import type { ASTNode } from '@marcbachmann/cel-js'
import { expressionEnvironment } from '../../server/src/core/policy/expression-environment.ts'
import type { PolicyDocument } from '../../server/src/core/policy/policy-document.ts'

/** The comparisons that occur in the sandbox policy. */
export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in'

/** A rule's condition as plain data, from which the rules of the other engines are generated. */
export type RuleCondition =
  | { kind: 'all' | 'any'; parts: RuleCondition[] }
  | { kind: 'missing'; feature: string }
  | { kind: 'compare'; feature: string; comparator: Comparator; value: number | string | string[] }

/** A rule of the policy with its parsed condition. */
export interface PortableRule {
  id: string
  condition: RuleCondition
}

/** Parses the policy's CEL, so that every engine gets exactly the same rules. */
export function portableRules({ inputs, rules }: PolicyDocument): PortableRule[] {
  const environment = expressionEnvironment(inputs)
  return rules.map(({ id, when }) => ({ id, condition: conditionOf(environment.parse(when).ast) }))
}

function conditionOf(node: ASTNode): RuleCondition {
  switch (node.op) {
    case '&&':
      return { kind: 'all', parts: node.args.map(conditionOf) }
    case '||':
      return { kind: 'any', parts: node.args.map(conditionOf) }
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
        feature: featureOf(node.args[0]),
        comparator: node.op,
        value: literalOf(node.args[1]),
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
  if (node.op !== '.' || node.args[0].op !== 'id') throw notPortable(node)
  return `${node.args[0].args}.${node.args[1]}`
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
