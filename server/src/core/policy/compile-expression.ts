import type { ASTNode } from '@marcbachmann/cel-js'
import type { FactValue } from '../facts/facts.ts'
import { numericEnvironment } from './expression-environment.ts'

/** The values of a policy's inputs in one decision, in the order of the inputs; undefined where missing. */
export type Slots = readonly (FactValue | undefined)[]

/** Whether a condition holds; undefined when that hangs on a feature that is missing. */
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
 * Turns a condition into closures over the slots. Whether it is one that an author should write, `checkExpression` says:
 * a condition that was accepted once has to run as it did, whatever is asked of new ones since.
 *
 * The language is CEL without calls other than `has`, `startsWith`, `endsWith` and `contains`, so that its cost is bounded by its
 * length. A missing feature behaves as CEL's errors do: `&&` and `||` absorb it where the other side settles the matter.
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

/** What an error of the CEL library, or of ours, says about an expression. */
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

/** Operators as authors write them, where the library calls them otherwise. */
const AS_WRITTEN: Record<string, string> = { '[]': '[ ]', map: '{ }' }

function compileBinary(node: ASTNode, scope: Scope): Evaluate {
  const apply = Object.hasOwn(BINARY, node.op) ? BINARY[node.op] : undefined
  if (apply === undefined) throw new Refusal(node, `'${AS_WRITTEN[node.op] ?? node.op}' is not available in policies`)
  const [left, right] = node.args as [ASTNode, ASTNode]
  // Nearly all conditions hold a feature against something fixed; these need no call to find either.
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

/** Kleene's logic, as CEL has it: one side that settles the matter is enough, the other may be unknown. */
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

/** Applies an operator whose type check has passed, unless an operand is missing. */
function againstConstant(apply: (left: never, right: never) => FactValue, slot: number, right: Operand): Evaluate {
  const operator = apply as (left: Operand, right: Operand) => FactValue
  return (slots) => {
    const left = slots[slot]
    return left === undefined ? undefined : operator(left, right)
  }
}

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
