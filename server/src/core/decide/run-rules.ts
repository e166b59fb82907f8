import type { CompiledPolicy, CompiledRule } from '../policy/compile/compiled-policy.ts'
import type { Slots } from '../policy/expression/compile-expression.ts'
import type { RuleTrace } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'

/** What the rules of a list answered, and those that hold; both in the order of the document. */
export interface RuleAnswers {
  /** Whether each rule holds; null if that depends on a missing value. */
  answers: (boolean | null)[]
  held: CompiledRule[]
  /** What the rules that hold add to the score. */
  points: number
  /**
   * What missing values may still add: the points of undecided rules, and those that a rule gave or kept because it found a
   * value missing. Only what adds to the score counts.
   */
  openPoints: number
}

/**
 * Evaluates every rule, also after one has settled the verdict, so that the trace is complete. With the answers for another
 * amount, rules that do not depend on it answer as before.
 */
export function runRules(rules: readonly CompiledRule[], values: Slots, before?: RuleAnswers): RuleAnswers {
  const ran: RuleAnswers = { answers: new Array(rules.length), held: [], points: 0, openPoints: 0 }
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!
    const answer = before === undefined || rule.dependsOnAmount ? answerOf(rule, values) : before.answers[index]!
    ran.answers[index] = answer
    if (answer === true) ran.held.push(rule)
    if (rule.points === 0) continue
    if (answer === true) ran.points += rule.points
    ran.openPoints += openPoints(rule, answer, values)
  }
  return ran
}

/** The traces of all rules, those before the score first, from their answers and the values that they read. */
export function traceRules(
  { rules, afterScore, slots }: CompiledPolicy,
  { answers, reading }: { answers: readonly (boolean | null)[]; reading: SlotReading },
): RuleTrace[] {
  const traces: RuleTrace[] = new Array(answers.length)
  for (let index = 0; index < answers.length; index++) {
    const rule = index < rules.length ? rules[index]! : afterScore[index - rules.length]!
    const answer = answers[index]!
    if (answer === null) traces[index] = undecidedTrace(rule, reading.values, slots.names)
    else traces[index] = answer ? rule.heldTrace : rule.notHeldTrace
  }
  return traces
}

function undecidedTrace(
  { action, id: rule, reads, allMissingTrace }: CompiledRule,
  values: Slots,
  names: readonly string[],
): RuleTrace {
  if (isAllMissing(reads, values)) return allMissingTrace
  const missing: string[] = []
  for (const slot of reads) if (values[slot] === undefined) missing.push(names[slot]!)
  return { action, holds: null, missing, rule }
}

function isAllMissing(reads: readonly number[], values: Slots): boolean {
  for (const slot of reads) if (values[slot] !== undefined) return false
  return true
}

function answerOf(rule: CompiledRule, values: Slots): boolean | null {
  const holds = rule.holds(values)
  return holds === true || holds === false ? holds : null
}

function openPoints({ points, asksFor }: CompiledRule, holds: boolean | null, values: Slots): number {
  const isOpen = holds === null || asksFor.some((slot) => values[slot] === undefined)
  // A rule that holds has given its points already: with the value known, it may not hold.
  return isOpen ? Math.max(0, holds === true ? -points : points) : 0
}
