import type { ASTNode } from '@marcbachmann/cel-js'
import type { FactValue } from '../../facts/facts.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { type Condition, compileExpression, featureIn, parseExpression } from '../expression/compile-expression.ts'
import { operandsOf } from '../expression/type-expression.ts'
import type { PolicyDocument } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/**
 * Finds dates that do not exist, conditions of rules and segments that can never hold, and segments whose applicants are all in
 * an earlier one.
 */
export function checkReachable(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  const { rules, after_score = [], segments = [] } = document
  const written = [
    ...rules.map(({ when, id }, index) => ({ path: ['rules', index, 'when'], what: `rule '${id}'`, when })),
    ...after_score.map(({ when, id }, index) => ({ path: ['after_score', index, 'when'], what: `rule '${id}'`, when })),
    ...segments.flatMap(({ when, name, rules: own = [], after_score: later = [] }, segment) => [
      { path: ['segments', segment, 'when'], what: `segment '${name}'`, when },
      ...own.map((rule, index) => ({
        path: ['segments', segment, 'rules', index, 'when'],
        what: `rule '${rule.id}'`,
        when: rule.when,
      })),
      ...later.map((rule, index) => ({
        path: ['segments', segment, 'after_score', index, 'when'],
        what: `rule '${rule.id}'`,
        when: rule.when,
      })),
    ]),
  ]
  const problems = written.flatMap(({ path, what, when }): PolicyProblem[] => {
    const parsed = parsedOf(when)
    if (parsed === undefined) return []
    const date = impossibleDate(parsed)
    if (date !== undefined)
      return [{ path, offset: date.offset, message: `${what}, column ${date.offset + 1}: ${date.message}` }]
    const condition = simpleCondition(when, slots)
    return condition !== undefined && holdsSomewhere(condition, []) === false
      ? [{ path, message: `${what} can never hold; correct a bound, or remove it` }]
      : []
  })
  const refused = new Set(problems.map(({ path }) => path.join('/')))
  return [...problems, ...deadSegments(document, slots).filter(({ path }) => !refused.has(path.join('/')))]
}

/** A segment is dead if wherever its condition holds that of an earlier one does. */
function deadSegments({ segments = [] }: PolicyDocument, slots: PolicySlots): PolicyProblem[] {
  const conditions = segments.map(({ when }) => simpleCondition(when, slots))
  return segments.flatMap(({ name }, index): PolicyProblem[] => {
    const condition = conditions[index]
    const earlier = conditions.slice(0, index).filter((one) => one !== undefined)
    if (condition === undefined || earlier.length === 0 || holdsSomewhere(condition, earlier) !== false) return []
    const message = `segment '${name}' has no applicants: wherever it holds, an earlier segment does; move it up, or narrow those above it`
    return [{ path: ['segments', index, 'when'], message }]
  })
}

/** A condition that compares features with constants only, and the values of each feature that tell its answers apart. */
interface SimpleCondition {
  holds: Condition
  values: ReadonlyMap<number, Cuts>
}

/** The constants that a feature is compared with. */
type Cuts = Set<FactValue>

function parsedOf(source: string): ASTNode | undefined {
  try {
    return parseExpression(source)
  } catch {
    return undefined // its compiler reports that it does not parse
  }
}

/** Undefined for a condition that computes, or does not compile. */
function simpleCondition(when: string, slots: PolicySlots): SimpleCondition | undefined {
  const compiled = compileExpression(when, slots.all)
  const parsed = parsedOf(when)
  if (!('holds' in compiled) || parsed === undefined) return undefined
  const values = new Map<number, Cuts>()
  return collect(parsed, { slots, values }) ? { holds: compiled.holds, values } : undefined
}

const COMPARISONS: readonly string[] = ['<', '<=', '>', '>=', '==', '!=', 'in']

/** Collects the constants of each feature; false if the condition does anything else than to compare with constants. */
function collect(node: ASTNode, place: { slots: PolicySlots; values: Map<number, Cuts> }): boolean {
  const { op } = node
  if (op === '&&' || op === '||' || op === '?:' || op === '!_')
    return operandsOf(node).every((one) => collect(one, place))
  if (op === 'value') return typeof node.args === 'boolean'
  if (op === 'call' && node.args[0] === 'has') {
    return cutsOf(node.args[1][0]!, place) !== undefined
  }
  if (COMPARISONS.includes(op)) return collectComparison(node, place)
  const cuts = cutsOf(node, place)
  cuts?.add(true)
  return cuts !== undefined
}

function collectComparison(node: ASTNode, place: { slots: PolicySlots; values: Map<number, Cuts> }): boolean {
  const [left, right] = node.args as [ASTNode, ASTNode]
  const [feature, other] = featureIn(left) === undefined ? [right, left] : [left, right]
  const constants = other.op === 'list' ? other.args.map(constantIn) : [constantIn(other)]
  const cuts = cutsOf(feature, place)
  if (cuts === undefined || constants.some((constant) => constant === undefined)) return false
  for (const constant of constants) cuts.add(constant!)
  return true
}

function cutsOf(node: ASTNode, { slots, values }: { slots: PolicySlots; values: Map<number, Cuts> }): Cuts | undefined {
  const slot = slots.all.get(featureIn(node) ?? '')
  if (slot === undefined) return undefined
  const cuts = values.get(slot) ?? new Set()
  values.set(slot, cuts)
  return cuts
}

function constantIn(node: ASTNode): FactValue | undefined {
  if (node.op === '-_') {
    const value = constantIn(node.args)
    return typeof value === 'number' ? -value : undefined
  }
  if (node.op !== 'value') return undefined
  const value: unknown = node.args
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean' ? value : undefined
}

/** The combinations of values that are tried; a condition with more is not judged. */
const TRIED_MAX = 20_000

/** Whether a condition holds for some values for which none of the earlier ones does; undefined if there are too many to try. */
function holdsSomewhere(condition: SimpleCondition, earlier: readonly SimpleCondition[]): boolean | undefined {
  const merged = new Map<number, Cuts>()
  for (const { values } of [condition, ...earlier]) {
    for (const [slot, cuts] of values) merged.set(slot, new Set([...(merged.get(slot) ?? []), ...cuts]))
  }
  const axes = [...merged].map(([slot, cuts]) => ({ slot, values: representatives(cuts) }))
  const size = axes.reduce((product, { values }) => product * values.length, 1)
  if (size > TRIED_MAX) return undefined
  const slots: (FactValue | undefined)[] = []
  for (let point = 0; point < size; point++) {
    let rest = point
    for (const { slot, values } of axes) {
      slots[slot] = values[rest % values.length]
      rest = Math.floor(rest / values.length)
    }
    if (condition.holds(slots) === true && earlier.every(({ holds }) => holds(slots) !== true)) return true
  }
  return false
}

/** One value of each range that the constants of a feature tell apart, and none. */
function representatives(constants: Cuts): (FactValue | undefined)[] {
  const all = [...constants]
  if (all.some((value) => typeof value === 'boolean')) return [true, false, undefined]
  const numbers = all.filter((value) => typeof value === 'number').sort((a, b) => a - b)
  if (numbers.length > 0) {
    const between = numbers.slice(1).map((value, index) => (value + numbers[index]!) / 2)
    return [numbers[0]! - 1, ...numbers, ...between, numbers.at(-1)! + 1, undefined]
  }
  const texts = all.filter((value) => typeof value === 'string').sort()
  // The text that follows right after another in the order of texts.
  return [...new Set(['', ...texts, ...texts.map((text) => `${text}\u0000`)]), undefined]
}

/** A comparison of the day of the decision with a text that is no day, which compares as a text and means nothing. */
function impossibleDate(node: ASTNode): { offset: number; message: string } | undefined {
  if (COMPARISONS.includes(node.op)) {
    const [left, right] = node.args as [ASTNode, ASTNode]
    for (const [one, other] of [
      [left, right],
      [right, left],
    ] as const) {
      if (featureIn(one) !== 'request.date') continue
      const written = other.op === 'list' ? other.args : [other]
      const wrong = written.find((constant) => constant.op === 'value' && !isDay(constant.args))
      if (wrong !== undefined)
        return {
          offset: wrong.start,
          message: `${JSON.stringify(wrong.args)} is no day of the calendar; write one as "2027-01-31"`,
        }
    }
  }
  for (const operand of operandsOf(node)) {
    const found = impossibleDate(operand)
    if (found) return found
  }
  return undefined
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/

function isDay(value: unknown): boolean {
  const [, year, month, day] = DAY.exec(String(value)) ?? []
  if (day === undefined) return false
  const leap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0)
  const lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return Number(day) >= 1 && Number(day) <= (lengths[Number(month) - 1] ?? 0)
}
