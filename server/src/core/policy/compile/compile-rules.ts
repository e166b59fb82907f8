import type { PolicyProblem } from '../check/policy-problem.ts'
import { type CompiledExpression, compileExpression } from '../expression/compile-expression.ts'
import type { PolicyDocument, PolicyRule } from '../policy-document.ts'
import { derivedIn } from './compile-derived.ts'
import type { CompiledBound, CompiledRule, Reason, RuleAction } from './compiled-policy.ts'
import type { PolicySlots } from './policy-slots.ts'

/** The two lists of rules of a policy: before the score and after it. */
export type RuleList = 'rules' | 'after_score'

/** A rule as its author wrote it, or a row of a table. */
export type WrittenRule = Omit<PolicyRule, 'then'> & { then: RuleAction }

/** Where compiled rules find their values, and where their problems are listed. */
export interface RuleContext {
  list: RuleList
  slots: PolicySlots
  amountSlots: ReadonlySet<number>
  problems: PolicyProblem[]
}

/** Compiles the rules before or after the score; `problems` gets those that do not compile. */
export function compileRules(document: PolicyDocument, context: RuleContext): CompiledRule[] {
  const { list } = context
  return (document[list] ?? []).flatMap(
    (definition, index) => compileRule(document, definition, { ...context, index }) ?? [],
  )
}

/** Compiles one rule; undefined, with a problem more, if that is not possible. */
export function compileRule(
  document: PolicyDocument,
  definition: WrittenRule,
  { index, ...context }: RuleContext & { index: number },
): CompiledRule | undefined {
  const { list, slots, amountSlots, problems } = context
  const compiled = compileExpression(definition.when, list === 'rules' ? slots.before : slots.all)
  const cap = compileCap(definition, { ...context, index })
  if ('message' in compiled) {
    problems.push(ruleProblem(definition, { list, index, field: 'when', ...compiled }))
    return undefined
  }
  const { holds, reads, comparisons } = compiled
  const readsScore = reads.some((slot) => BY_SCORE.test(slots.names[slot]!))
  const readsLimit = reads.includes(slots.variables['limit.amount'])
  const dependsOnAmount = reads.some((slot) => slot >= slots.firstVariable || amountSlots.has(slot))
  const asksFor = definition.then === 'points' ? askedFor(document, { when: definition.when, reads, slots }) : []
  const depends = { dependsOnAmount, readsScore, readsLimit, asksFor }
  const names = reads.map((slot) => slots.names[slot]!)
  return { ...preparedRule(definition, names), holds, reads, comparisons, cap, ...depends }
}

/** What follows from the score, so that its shortfalls took part in what a rule reads. */
export const BY_SCORE = /^(score|tier)\./
const ASKS_FOR_VALUES = /\b(has|missing_because)\s*\(/

/** The inputs behind a rule that asks whether values are known, in its own condition or in a derived feature. */
function askedFor(
  document: PolicyDocument,
  { when, reads, slots }: { when: string; reads: readonly number[]; slots: PolicySlots },
): number[] {
  const { inputs, derived = [] } = document
  const compiled = new Map(derivedIn(document, slots).map((one) => [one.slot, one.reads]))
  const behind = new Set(reads)
  // A set gives what is added while it is read, so this reaches everything behind the rule once.
  for (const slot of behind) for (const read of compiled.get(slot) ?? []) behind.add(read)
  const sources = [when, ...[...behind].flatMap((slot) => derived[slot - inputs.length]?.value ?? [])]
  return sources.some((source) => ASKS_FOR_VALUES.test(source))
    ? [...behind].filter((slot) => slot < inputs.length)
    : []
}

function compileCap(
  definition: WrittenRule,
  { list, slots, problems, index }: RuleContext & { index: number },
): CompiledBound | undefined {
  if (definition.cap === undefined) return undefined
  const compiled = compileExpression(definition.cap, capSlots(slots, list))
  if ('evaluate' in compiled) return compiledBound(compiled, slots)
  problems.push(ruleProblem(definition, { list, index, field: 'cap', ...compiled }))
  return undefined
}

/** A bound of the limit from its expression. */
export function compiledBound({ evaluate, reads }: CompiledExpression, { names }: PolicySlots): CompiledBound {
  const named = reads.map((slot) => ({ slot, feature: names[slot]! }))
  return { evaluate, reads, namedReads: named.filter(({ feature }) => !NAMED_OTHERWISE.test(feature)) }
}

const NAMED_OTHERWISE = /^(currency|score)\./

/** What the bound of a rule can read: as a limit term, and after the score also the limit itself. */
export function capSlots(slots: PolicySlots, list: RuleList): ReadonlyMap<string, number> {
  return list === 'rules' ? slots.terms : slots.all
}

/** The problem of an expression of a rule, with its column. */
export function ruleProblem(
  { id }: Pick<PolicyRule, 'id'>,
  {
    list,
    index,
    field,
    offset,
    message,
  }: { list: RuleList; index: number; field: 'when' | 'cap'; offset: number; message: string },
): PolicyProblem {
  const where = field === 'when' ? `rule '${id}'` : `cap of rule '${id}'`
  return { path: [list, index, field], offset, message: `${where}, column ${offset + 1}: ${message}` }
}

/** What does not depend on the condition. The members of traces are in the order of their names: see `orderedJson`. */
function preparedRule(definition: WrittenRule, reads: string[]) {
  const { id, then: action, reason, condition, covers, questions_data } = definition
  const points = action === 'points' ? (definition.points ?? 0) : 0
  const { code, impact, label } = reason
  const given: Reason = { code, impact, label, node: `rule_trace/${id}` }
  return {
    id,
    action,
    heldTrace: points === 0 ? { action, holds: true, rule: id } : { action, holds: true, points, rule: id },
    notHeldTrace: { action, holds: false, rule: id },
    allMissingTrace: { action, holds: null, missing: reads, rule: id },
    reason: given,
    rankedReason: { size: Math.abs(points), reason: given },
    condition,
    covers,
    questionsData: questions_data === true,
    points,
  }
}
