import type { CompiledPolicy, CompiledRule } from '../policy/compile/compiled-policy.ts'
import { JUDGED_NAMES } from '../policy/compile/judged-variables.ts'
import type { Slots } from '../policy/expression/compile-expression.ts'
import type { RuleTrace } from './evaluation.ts'

/** The trace of every rule, and the rules that hold; both in the order of the document. */
export interface RuleAnswers {
  traces: RuleTrace[]
  held: CompiledRule[]
  /** What the rules that hold add to the score. */
  points: number
  /**
   * What missing values may still add: the points of undecided rules, and those that a rule gave or kept because it found a
   * value missing. Only what adds to the score counts.
   */
  openPoints: number
}

/** Evaluates every rule, also after one has settled the verdict, so that the trace is complete. */
export function runRules(policy: CompiledPolicy, rules: readonly CompiledRule[], values: Slots): RuleAnswers {
  const answers: RuleAnswers = { traces: [], held: [], points: 0, openPoints: 0 }
  for (const rule of rules) add(answers, rule, { trace: traceOf(policy, rule, values), values })
  return answers
}

/** Evaluates the rules before the score for another amount: those that do not depend on it answer as before. */
export function runRulesAgain(policy: CompiledPolicy, before: RuleAnswers, values: Slots): RuleAnswers {
  const answers: RuleAnswers = { traces: [], held: [], points: 0, openPoints: 0 }
  for (const [index, rule] of policy.rules.entries()) {
    const trace = rule.dependsOnAmount ? traceOf(policy, rule, values) : before.traces[index]!
    add(answers, rule, { trace, values })
  }
  return answers
}

function add(answers: RuleAnswers, rule: CompiledRule, { trace, values }: { trace: RuleTrace; values: Slots }): void {
  answers.traces.push(trace)
  answers.openPoints += openPoints(rule, trace.holds, values)
  if (trace.holds !== true) return
  answers.held.push(rule)
  answers.points += rule.points
}

function traceOf(policy: CompiledPolicy, rule: CompiledRule, values: Slots): RuleTrace {
  const { action, id, reads, points } = rule
  const holds = rule.holds(values)
  if (points !== 0 && holds === true) return { action, holds, points, rule: id }
  if (holds === true || holds === false) return { action, holds, rule: id }
  const missing = reads.filter((slot) => values[slot] === undefined).map((slot) => nameOfSlot(policy, slot))
  return { action, holds: null, missing, rule: id }
}

function openPoints({ points, asksFor }: CompiledRule, holds: boolean | null, values: Slots): number {
  const isOpen = holds === null || asksFor.some((slot) => values[slot] === undefined)
  // A rule that holds has given its points already: with the value known, it may not hold.
  return isOpen ? Math.max(0, holds === true ? -points : points) : 0
}

/** The name of an input, of a derived feature, or of a variable that is known once an amount was judged. */
export function nameOfSlot({ inputs, derived, slots }: CompiledPolicy, slot: number): string {
  const feature = inputs[slot]?.feature ?? derived[slot - inputs.length]?.feature
  return feature ?? JUDGED_NAMES[slot - slots.firstVariable] ?? ''
}
