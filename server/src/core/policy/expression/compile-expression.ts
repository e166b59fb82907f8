import type { ASTNode } from '@marcbachmann/cel-js'
import type { FactValue } from '../../facts/facts.ts'
import { JUDGED_VARIABLES } from '../compile/judged-variables.ts'
import { boundedEnvironment, FEATURE_FUNCTIONS, FUNCTIONS, METHODS, type TextFunction } from './expression-functions.ts'
import { hintFor } from './expression-hint.ts'
import { compileTextPattern } from './text-pattern.ts'

/** The values of a policy's inputs in one decision, in the order of the inputs; undefined where missing. */
export type Slots = readonly (FactValue | undefined)[]

/** Whether a condition holds; undefined if that depends on a missing feature. */
export type Condition = (slots: Slots) => boolean | undefined

/** A condition ready to run, and the slots it reads. */
export interface CompiledExpression {
  holds: Condition
  /** The same, for an expression that is not a condition. */
  evaluate: Evaluate
  reads: readonly number[]
  comparisons: readonly Comparison[]
}

/** A comparison of a feature with something else, written with the feature on the left. */
export interface Comparison {
  slot: number
  feature: string
  operator: '<' | '<=' | '>' | '>='
  other: Evaluate
}

/** What is wrong with an expression, and at which character. */
export interface ExpressionProblem {
  offset: number
  message: string
}

type Operand = FactValue | readonly FactValue[] | undefined
/** The value of an expression; undefined if it depends on a missing feature. */
export type Evaluate = (slots: Slots) => Operand

interface Scope {
  slotOf: ReadonlyMap<string, number>
  reads: Set<number>
  comparisons: Comparison[]
}

class Refusal extends Error {
  readonly offset: number
  constructor(node: ASTNode, message: string) {
    super(message)
    this.offset = node.start
  }
}

const parser = boundedEnvironment()

/**
 * Compiles a condition to closures over the slots. It does not check whether a new policy may use the condition, as
 * `checkExpression` does: a condition that was accepted once must run as before.
 *
 * The language is CEL with the calls of `expression-functions.ts` and no others, so its cost is bounded by its length and
 * that of the texts. A missing feature behaves like an error in CEL: `&&` and `||` absorb it if the other side settles the
 * result.
 */
export function compileExpression(
  source: string,
  slotOf: ReadonlyMap<string, number>,
): CompiledExpression | ExpressionProblem {
  const scope: Scope = { slotOf, reads: new Set(), comparisons: [] }
  try {
    const evaluate = compile(parser.parse(source).ast, scope)
    return { holds: evaluate as Condition, evaluate, reads: [...scope.reads], comparisons: scope.comparisons }
  } catch (error) {
    return hintFor(source) ?? problemOf(error)
  }
}

/** Parses an expression, without a check of its names and types. */
export function parseExpression(source: string): ASTNode {
  return parser.parse(source).ast
}

/** The problem that an error of the CEL library, or a `Refusal`, reports. */
export function problemOf(error: unknown): ExpressionProblem {
  if (error instanceof Refusal) return { offset: error.offset, message: error.message }
  const { summary, range } = error as { summary?: string; range?: { start: number } }
  if (summary === undefined) throw error
  return { offset: range?.start ?? 0, message: summary }
}

function compile(node: ASTNode, scope: Scope): Evaluate {
  switch (node.op) {
    case 'value':
      return constant(literal(node))
    case 'list':
      return constant(node.args.map(literal))
    case 'id':
      throw new Refusal(node, `'${node.args}' is not a feature; name one, such as cashflow.monthly_income`)
    case '.':
    case '[]':
      return readSlot(slotOfFeature(node, scope))
    case 'call':
      return compileCall(node, scope)
    case 'rcall':
      return compileMethod(node, scope)
    case '!_':
      return negation(compile(node.args, scope))
    case '-_':
      return lifted((value: number) => -value, compile(node.args, scope))
    case '?:':
      return choice(compile(node.args[0], scope), compile(node.args[1], scope), compile(node.args[2], scope))
    case '&&':
      return settledBy(false, compile(node.args[0], scope), compile(node.args[1], scope))
    case '||':
      return settledBy(true, compile(node.args[0], scope), compile(node.args[1], scope))
    default:
      return compileBinary(node, scope)
  }
}

const BINARY: Record<string, (left: never, right: never) => FactValue> = {
  '==': (left: FactValue, right: FactValue) => left === right,
  '!=': (left: FactValue, right: FactValue) => left !== right,
  '<': (left: number, right: number) => left < right,
  '<=': (left: number, right: number) => left <= right,
  '>': (left: number, right: number) => left > right,
  '>=': (left: number, right: number) => left >= right,
  '+': (left: number, right: number) => left + right,
  '-': (left: number, right: number) => left - right,
  '*': (left: number, right: number) => left * right,
  '/': (left: number, right: number) => left / right,
  in: (left: FactValue, right: readonly FactValue[]) => right.includes(left),
}

/** Operators as authors write them, where the library uses another name. */
const AS_WRITTEN: Record<string, string> = { '[]': '[ ]', map: '{ }' }

function compileBinary(node: ASTNode, scope: Scope): Evaluate {
  const apply = Object.hasOwn(BINARY, node.op) ? BINARY[node.op] : undefined
  if (apply === undefined) throw new Refusal(node, `'${AS_WRITTEN[node.op] ?? node.op}' is not available in policies`)
  const [left, right] = node.args as [ASTNode, ASTNode]
  const comparisonsBefore = scope.comparisons.length
  const [first, second] = [compile(left, scope), compile(right, scope)]
  const comparison = comparisonOf(node, { first, second, slotOf: scope.slotOf })
  // What is compared within the other side does not turn the rule alone.
  if (comparison) scope.comparisons.splice(comparisonsBefore, Number.POSITIVE_INFINITY, comparison)
  // Nearly all conditions compare a feature with a constant; this form needs no call for either operand.
  if ((left.op === '.' || left.op === '[]') && (right.op === 'value' || right.op === 'list'))
    return againstConstant(apply, slotOfFeature(left, scope), second([]))
  return lifted(apply, first, second)
}

const MIRRORED: Record<Comparison['operator'], Comparison['operator']> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

function comparisonOf(
  node: ASTNode,
  { first, second, slotOf }: { first: Evaluate; second: Evaluate; slotOf: ReadonlyMap<string, number> },
): Comparison | undefined {
  const { op } = node
  if (op !== '<' && op !== '<=' && op !== '>' && op !== '>=') return undefined
  const [left, right] = node.args.map((operand) => featureIn(operand) ?? '') as [string, string]
  const [leftSlot, rightSlot] = [slotOf.get(left), slotOf.get(right)]
  if (leftSlot !== undefined) return { feature: left, slot: leftSlot, operator: op, other: second }
  if (rightSlot !== undefined) return { feature: right, slot: rightSlot, operator: MIRRORED[op], other: first }
  return undefined
}

function compileCall(node: ASTNode & { op: 'call' }, scope: Scope): Evaluate {
  const [name, operands] = node.args
  if (FEATURE_FUNCTIONS.includes(name)) return compileAboutFeature(node, scope)
  if (name === 'matches') return compileMatches(node, operands, scope)
  const definition = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (definition === undefined) throw new Refusal(node, `'${name}' is not available in policies`)
  const { apply, min, max } = definition
  if (operands.length < min || operands.length > max)
    throw new Refusal(node, `${name} takes ${min === max ? min : `${min} to ${max}`} operands`)
  const [first, ...others] = operands.map((operand) => compile(operand, scope))
  if (max === 1) return lifted(apply, first!)
  return others.reduce((left, right) => lifted(apply, left, right), first!)
}

/** Compiles a call that asks about a feature, not for its value: whether there is one, why not, or how old it is. */
function compileAboutFeature(node: ASTNode & { op: 'call' }, scope: Scope): Evaluate {
  const [name, [argument, ...others]] = node.args
  if (argument === undefined || others.length > 0) throw new Refusal(node, `${name} takes one feature`)
  const slot = slotOfFeature(argument, scope)
  if (name === 'has') return (slots) => slots[slot] !== undefined
  const aside = scope.slotOf.get(asideName(name, featureIn(argument) ?? ''))
  if (aside === undefined) throw new Refusal(node, `'${name}' is not available here`)
  return readSlot(aside)
}

/** The name of the slot that has the cause or the age of a feature, such as `age_days(snapshot.salary)`. */
export function asideName(name: string, feature: string): string {
  return `${name}(${feature})`
}

function compileMethod(node: ASTNode & { op: 'rcall' }, scope: Scope): Evaluate {
  const [name, receiver, operands] = node.args
  if (name === 'matches') return compileMatches(node, [receiver, ...operands], scope)
  const apply: TextFunction | undefined = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  const [argument] = operands
  if (apply === undefined || argument === undefined) throw new Refusal(node, `'${name}' is not available in policies`)
  return lifted(apply, compile(receiver, scope), compile(argument, scope))
}

function compileMatches(node: ASTNode, [text, written]: readonly ASTNode[], scope: Scope): Evaluate {
  const source = written?.op === 'value' && typeof written.args === 'string' ? written.args : undefined
  if (text === undefined || source === undefined)
    throw new Refusal(node, 'matches takes a text and a pattern in quotes: matches(entity.country, "^(AT|DE)$")')
  const pattern = compileTextPattern(source)
  if (typeof pattern !== 'function') throw new Refusal(written!, pattern.message)
  return lifted((value: string) => pattern(value), compile(text, scope))
}

/**
 * The feature that a part of an expression names: `snapshot.bureau.score`, or `snapshot["bureau.score"]` for any name;
 * undefined if it names none.
 */
export function featureIn(node: ASTNode): string | undefined {
  if (node.op === '[]') {
    const [base, name] = node.args
    const isName = name.op === 'value' && typeof name.args === 'string'
    return base.op === 'id' && base.args === 'snapshot' && isName ? `snapshot.${name.args}` : undefined
  }
  if (node.op !== '.') return undefined
  const [base, field] = node.args
  const before = base.op === 'id' ? base.args : base.op === '.' ? featureIn(base) : undefined
  return before === undefined ? undefined : `${before}.${field}`
}

function slotOfFeature(node: ASTNode, { slotOf, reads }: Scope): number {
  const feature = featureIn(node)
  if (feature === undefined) throw new Refusal(node, notAFeature(node))
  const slot = slotOf.get(feature)
  if (slot === undefined) throw new Refusal(node, unknownName(feature))
  reads.add(slot)
  return slot
}

function notAFeature({ op }: ASTNode): string {
  if (op === '[]') return `'[ ]' is not available in policies, except as snapshot["a.name"]`
  return 'name a feature, such as cashflow.monthly_income'
}

/** What to do about a name that is not available where it was written. */
function unknownName(feature: string): string {
  const [namespace] = feature.split('.')
  if (Object.hasOwn(JUDGED_VARIABLES, feature))
    return `${feature} is not known yet; use it under after_score${feature === 'limit.amount' ? '' : ', or in a limit term'}`
  const siblings = Object.keys(JUDGED_VARIABLES).filter((name) => name.startsWith(`${namespace}.`))
  if (siblings.length > 0) return `there is no ${feature}; write one of ${siblings.join(', ')}`
  if (namespace === 'derived') return `${feature} is not defined before this; add it under derived, above its use`
  return `${feature} is not among the inputs of this policy; add it there, or correct the name`
}

function literal(node: ASTNode): FactValue {
  const value = node.op === 'value' ? node.args : undefined
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return value
  throw new Refusal(node, 'only numbers, text, true and false can be written here')
}

function constant(value: Operand): Evaluate {
  return () => value
}

function readSlot(slot: number): Evaluate {
  return (slots) => slots[slot]
}

function negation(operand: Evaluate): Evaluate {
  return (slots) => {
    const value = operand(slots)
    return value === undefined ? undefined : !value
  }
}

/** Three-valued logic (Kleene), as in CEL: if one side settles the result, the other may be unknown. */
function settledBy(settling: boolean, left: Evaluate, right: Evaluate): Evaluate {
  return (slots) => {
    const first = left(slots)
    if (first === settling) return settling
    const second = right(slots)
    if (second === settling) return settling
    return first === undefined || second === undefined ? undefined : !settling
  }
}

function choice(test: Evaluate, yes: Evaluate, no: Evaluate): Evaluate {
  return (slots) => {
    const chosen = test(slots)
    if (chosen === undefined) return undefined
    return chosen ? yes(slots) : no(slots)
  }
}

function againstConstant(apply: (left: never, right: never) => FactValue, slot: number, right: Operand): Evaluate {
  const operator = apply as (left: Operand, right: Operand) => FactValue
  return (slots) => {
    const left = slots[slot]
    return left === undefined ? undefined : operator(left, right)
  }
}

/** Applies an operator to its operands; the result is undefined if one of them is missing. */
function lifted(apply: (...operands: never[]) => FactValue, first: Evaluate, second?: Evaluate): Evaluate {
  const operator = apply as (left: Operand, right?: Operand) => FactValue
  if (second === undefined) {
    return (slots) => {
      const value = first(slots)
      return value === undefined ? undefined : operator(value)
    }
  }
  return (slots) => {
    const left = first(slots)
    if (left === undefined) return undefined
    const right = second(slots)
    return right === undefined ? undefined : operator(left, right)
  }
}
