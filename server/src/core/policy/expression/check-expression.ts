import type { ASTNode } from '@marcbachmann/cel-js'
import { MISSING_BECAUSE } from '../../facts/facts.ts'
import { findFeature } from '../../facts/feature-catalogue.ts'
import type { FeatureType } from '../../vocabularies.ts'
import { compileExpression, type ExpressionProblem, featureIn, parseExpression } from './compile-expression.ts'
import { type FeatureTypes, operandsOf, typeOfExpression } from './type-expression.ts'

/** What a new expression may read, and the type that it has to have. */
export interface ExpressionPlace {
  slotOf: ReadonlyMap<string, number>
  types: FeatureTypes
  type?: FeatureType
}

/** The first problem of a new expression: an unknown name, a wrong type, or a part that is misleading. */
export function checkExpression(
  source: string,
  { type: expected = 'boolean', ...place }: ExpressionPlace,
): ExpressionProblem | undefined {
  const type = checkedType(source, place)
  if (typeof type !== 'string') return type
  return type === expected
    ? undefined
    : { offset: 0, message: `must be ${IN_WORDS[expected]}, but is ${IN_WORDS[type]}` }
}

/** The type of a new expression that may have any; or its first problem. */
export function checkedType(
  source: string,
  { slotOf, types }: Pick<ExpressionPlace, 'slotOf' | 'types'>,
): FeatureType | ExpressionProblem {
  const compiled = compileExpression(source, slotOf)
  if ('message' in compiled) return compiled
  const ast = parseExpression(source)
  const misleading = misleadingPart(ast)
  if (misleading) return misleading
  const type = typeOfExpression(source, { ast, types })
  if (typeof type !== 'string') return type
  return joinedText(ast, types) ?? type
}

const IN_WORDS: Readonly<Record<FeatureType, string>> = {
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
}

/** The first `+` that joins texts. A derived feature that doubles the one above would grow without a bound. */
function joinedText(node: ASTNode, types: FeatureTypes): ExpressionProblem | undefined {
  if (node.op === '+' && isText(node, types))
    return {
      offset: node.start,
      message: "texts cannot be joined by '+'; compare each text by itself, and combine with &&",
    }
  for (const part of partsOf(node)) {
    const found = joinedText(part, types)
    if (found) return found
  }
  return undefined
}

/** Whether a part whose types fit is a text. */
function isText(node: ASTNode, types: FeatureTypes): boolean {
  const feature = featureIn(node)
  if (feature !== undefined) return types.get(feature) === 'string'
  if (node.op === 'value') return typeof node.args === 'string'
  if (node.op === 'call') return node.args[0] === 'missing_because'
  if (node.op === '?:') return isText(node.args[1], types)
  return node.op === '+' && isText(node.args[0], types)
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
  return misleadingAge(node) ?? misleadingCause(node)
}

/** Finds the age of a feature that has none, which would always be missing. */
function misleadingAge(node: ASTNode): ExpressionProblem | undefined {
  if (node.op !== 'call' || node.args[0] !== 'age_days') return undefined
  const feature = featureIn(node.args[1][0]!) ?? ''
  if (findFeature(feature)?.half_life_days !== null) return undefined
  return { offset: node.start, message: `${feature} does not age; remove age_days` }
}

/** Finds a cause that no missing value has, so that the comparison would never hold. */
function misleadingCause(node: ASTNode): ExpressionProblem | undefined {
  if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') return undefined
  const [left, right] = node.args
  if (left.op !== 'call' || left.args[0] !== 'missing_because') return undefined
  const written = right.op === 'list' ? right.args : [right]
  const wrong = written.find(
    ({ op, args }) => op === 'value' && args !== '' && !Object.hasOwn(MISSING_BECAUSE, String(args)),
  )
  if (wrong === undefined) return undefined
  const causes = Object.keys(MISSING_BECAUSE).join(', ')
  return {
    offset: wrong.start,
    message: `no value is missing because of this; write "" for a known value, or one of ${causes}`,
  }
}

/** The operands of a node, except the list to the right of `in`. */
function partsOf(node: ASTNode): ASTNode[] {
  return node.op === 'in' && node.args[1].op === 'list' ? [node.args[0]] : operandsOf(node)
}

function isWhole(node: ASTNode): boolean {
  if (node.op === 'value') return typeof node.args === 'bigint'
  if (node.op === 'call') return node.args[0] === 'size'
  if (node.op === '-_') return isWhole(node.args)
  const isArithmetic = node.op === '+' || node.op === '-' || node.op === '*'
  return isArithmetic && isWhole(node.args[0]) && isWhole(node.args[1])
}
