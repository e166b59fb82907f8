import type { ASTNode, Environment } from '@marcbachmann/cel-js'
import type { FeatureType } from '../../vocabularies.ts'
import { type ExpressionProblem, featureIn, problemOf } from './compile-expression.ts'
import { boundedEnvironment, FEATURE_FUNCTIONS, FUNCTIONS } from './expression-functions.ts'

/** The types of features by name. */
export type FeatureTypes = ReadonlyMap<string, FeatureType>

/** Variables of the environment, one for each type. */
const VARIABLES = { number: 'n', string: 't', boolean: 'b' } as const
/** What `size` is called in the environment: CEL's own returns an integer, which mixes badly with decimals. */
const SIZE = 'leng'

const environment = typedEnvironment()

/** The type of an expression that compiles, by the type checker of CEL; or where two types do not fit. */
export function typeOfExpression(
  source: string,
  { ast, types }: { ast: ASTNode; types: FeatureTypes },
): FeatureType | ExpressionProblem {
  const { error, type } = environment.parse(flatten(source, ast, types)).check()
  if (error) return problemOf(error)
  return type === 'double' ? 'number' : type === 'bool' ? 'boolean' : 'string'
}

/** The functions of the environment have types and no values: `compileExpression` evaluates expressions. */
function neverCalled(): undefined {}

/** An environment whose variables and functions have only the types of features. */
function typedEnvironment(): Environment {
  const typed = boundedEnvironment()
    .registerVariable(VARIABLES.number, 'double')
    .registerVariable(VARIABLES.string, 'string')
    .registerVariable(VARIABLES.boolean, 'bool')
    .registerFunction(`${SIZE}(string): double`, neverCalled)
    .registerFunction('matches(string, string): bool', neverCalled)
    .registerFunction('abs(double): double', neverCalled)
  for (const name of ['min', 'max']) {
    const { min, max } = FUNCTIONS[name]!
    for (let count = min; count <= max; count++)
      typed.registerFunction(`${name}(${Array(count).fill('double').join(', ')}): double`, neverCalled)
  }
  return typed
}

/**
 * Replaces every feature and every whole number by a variable of its type, filled up with spaces to the same length, so
 * that a problem is still found at its place. CEL knows no names with dots, and does not mix `1` with `0.5`.
 */
function flatten(source: string, ast: ASTNode, types: FeatureTypes): string {
  let text = source
  const replace = ({ start, end }: ASTNode, by: string) => {
    text = text.slice(0, start) + by.padEnd(end - start) + text.slice(end)
  }
  const visit = (node: ASTNode): void => {
    const feature = featureIn(node)
    if (feature !== undefined) replace(node, VARIABLES[types.get(feature) ?? 'number'])
    else if (node.op === 'value' && typeof node.args === 'bigint') replace(node, VARIABLES.number)
    else if (node.op === 'call' && FEATURE_FUNCTIONS.includes(node.args[0]))
      replace(node, VARIABLES[TYPES_ABOUT_FEATURES[node.args[0]] ?? 'boolean'])
    else {
      if (node.op === 'call' && node.args[0] === 'size')
        text = text.slice(0, node.start) + SIZE + text.slice(node.start + SIZE.length)
      for (const operand of operandsOf(node)) visit(operand)
    }
  }
  visit(ast)
  return text
}

const TYPES_ABOUT_FEATURES: Readonly<Record<string, FeatureType>> = { missing_because: 'string', age_days: 'number' }

/** The parts that a part of an expression is made of. */
export function operandsOf(node: ASTNode): ASTNode[] {
  return [node.args].flat(2).filter((part) => typeof part === 'object' && part !== null && 'op' in part)
}
