import type { CompiledRule } from '../policy/compile/compiled-policy.ts'
import type { Slots } from '../policy/expression/compile-expression.ts'
import type { RuleTrace } from './evaluation.ts'

/** How the rules of a list were evaluated, and those that hold; both in the order of the document. */
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

/**
 * Evaluates every rule, also after one has settled the verdict, so that the trace is complete. With the answers for another
 * amount, rules that do not depend on it answer as before.
 */
export function runRules(rules: readonly CompiledRule[], values: Slots, before?: RuleAnswers): RuleAnswers {
  const ran: RuleAnswers = { traces: new Array(rules.length), held: [], points: 0, openPoints: 0 }
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!
    const trace = before === undefined || rule.dependsOnAmount ? runRule(rule, values) : before.traces[index]!
    const isHeld = trace === rule.heldTrace
    ran.traces[index] = trace
    if (isHeld) ran.held.push(rule)
    if (rule.points === 0) continue
    if (isHeld) ran.points += rule.points
    ran.openPoints += openPoints(rule, trace.holds, values)
  }
  return ran
}

/** Evaluates a rule; it shares its traces among all decisions, except where only some of what it reads is missing. */
function runRule(rule: CompiledRule, values: Slots): RuleTrace {
  const holds = rule.holds(values)
  if (holds === true) return rule.heldTrace
  return holds === false ? rule.notHeldTrace : undecidedTrace(rule, values)
}

function undecidedTrace({ action, id: rule, reads, allMissingTrace }: CompiledRule, values: Slots): RuleTrace {
  if (reads.every((slot) => values[slot] === undefined)) return allMissingTrace
  const missing = allMissingTrace.missing.filter((_, index) => values[reads[index]!] === undefined)
  return { action, holds: null, missing, rule }
}

function openPoints({ points, asksFor }: CompiledRule, holds: boolean | null, values: Slots): number {
  const isOpen = holds === null || asksFor.some((slot) => values[slot] === undefined)
  // A rule that holds has given its points already: with the value known, it may not hold.
  return isOpen ? Math.max(0, holds === true ? -points : points) : 0
}
