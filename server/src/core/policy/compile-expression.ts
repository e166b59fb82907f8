import type { ASTNode } from '@marcbachmann/cel-js'
import type { FactValue } from '../facts/facts.ts'
import { numericEnvironment } from './expression-environment.ts'

/** The values of a policy's inputs in one decision, in the order of the inputs; undefined where missing. */
export type Slots = readonly (FactValue | undefined)[]

/** Whether a condition holds; undefined if that depends on a missing feature. */
export type Condition = (slots: Slots) => boolean | undefined

/** A condition ready to run, and the slots it reads. */
export interface CompiledExpression {
  holds: Condition
  reads: readonly number[]
}

/** What is wrong with an expression, and at which character. */
export interface ExpressionProblem {
  offset: number
  message: string
}

type Operand = FactValue | readonly FactValue[] | undefined
type Evaluate = (slots: Slots) => Operand

interface Scope {
  slotOf: ReadonlyMap<string, number>
  reads: Set<number>
}

class Refusal extends Error {
  readonly offset: number
  constructor(node: ASTNode, message: string) {
    super(message)
    this.offset = node.start
  }
}

const parser = numericEnvironment()

/**
 * Compiles a condition to closures over the slots. It does not check whether a new policy may use the condition, as
 * `checkExpression` does: a condition that was accepted once must run as before.
 *
 * The language is CEL with no calls but `has`, `startsWith`, `endsWith` and `contains`, so its cost is bounded by its
 * length. A missing feature behaves like an error in CEL: `&&` and `||` absorb it if the other side settles the result.
 */
export function compileExpression(
  source: string,
  slotOf: ReadonlyMap<string, number>,
): CompiledExpression | ExpressionProblem {
  const scope: Scope = { slotOf, reads: new Set() }
  try {
    const evaluate = compile(parser.parse(source).ast, scope)
    return { holds: evaluate as Condition, reads: [...scope.reads] }
  } catch (error) {
    return problemOf(error)
  }
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
      throw new Refusal(node, `'${node.args}' is not a feature; name one, such as cashflow.median_inflow`)
    case '.':
      return readSlot(slotOfFeature(node, scope))
    case 'call':
      return compileHas(node, scope)
    case 'rcall':
      return compileText(node, scope)
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

const TEXT_METHODS: Record<string, (text: string, part: string) => boolean> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
}

/** Operators as authors write them, where the library uses another name. */
const AS_WRITTEN: Record<string, string> = { '[]': '[ ]', map: '{ }' }

function compileBinary(node: ASTNode, scope: Scope): Evaluate {
  const apply = Object.hasOwn(BINARY, node.op) ? BINARY[node.op] : undefined
  if (apply === undefined) throw new Refusal(node, `'${AS_WRITTEN[node.op] ?? node.op}' is not available in policies`)
  const [left, right] = node.args as [ASTNode, ASTNode]
  // Nearly all conditions compare a feature with a constant; this form needs no call for either operand.
  if (left.op === '.' && (right.op === 'value' || right.op === 'list'))
    return againstConstant(
      apply,
      slotOfFeature(left, scope),
      right.op === 'list' ? right.args.map(literal) : literal(right),
    )
  return lifted(apply, compile(left, scope), compile(right, scope))
}

function compileHas(node: ASTNode & { op: 'call' }, scope: Scope): Evaluate {
  const [name, [argument]] = node.args
  if (name !== 'has' || argument === undefined) throw new Refusal(node, `'${name}' is not available in policies`)
  const slot = slotOfFeature(argument, scope)
  return (slots) => slots[slot] !== undefined
}

function compileText(node: ASTNode & { op: 'rcall' }, scope: Scope): Evaluate {
  const [name, receiver, [argument]] = node.args
  const apply = Object.hasOwn(TEXT_METHODS, name) ? TEXT_METHODS[name] : undefined
  if (apply === undefined || argument === undefined) throw new Refusal(node, `'${name}' is not available in policies`)
  return lifted(apply, compile(receiver, scope), compile(argument, scope))
}

function slotOfFeature(node: ASTNode, { slotOf, reads }: Scope): number {
  if (node.op !== '.' || node.args[0].op !== 'id')
    throw new Refusal(node, 'name a feature, such as cashflow.median_inflow')
  const feature = `${node.args[0].args}.${node.args[1]}`
  const slot = slotOf.get(feature)
  if (slot === undefined) throw new Refusal(node, `${feature} is not among the inputs of this policy`)
  reads.add(slot)
  return slot
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
    const right = second(slots)
    return left === undefined || right === undefined ? undefined : operator(left, right)
  }
}
