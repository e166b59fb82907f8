import type { CompiledPolicy, CompiledRule } from '../policy/compiled-policy.ts'
import type { RuleTrace } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'

/** What all rules said, and those that hold; both in the order of the document. */
export interface RuleAnswers {
  traces: RuleTrace[]
  held: CompiledRule[]
}

/** Asks every rule, so that the trace is complete. */
export function runRules({ rules, inputs }: CompiledPolicy, { values }: SlotReading): RuleAnswers {
  const traces: RuleTrace[] = new Array(rules.length)
  const held: CompiledRule[] = []
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!
    const answer = rule.holds(values)
    if (answer === false) traces[index] = rule.whenNot
    else if (answer === true) {
      traces[index] = rule.whenHeld
      held.push(rule)
    } else {
      const missing: string[] = []
      for (const slot of rule.reads) if (values[slot] === undefined) missing.push(inputs[slot]!.feature)
      traces[index] = { action: rule.action, holds: null, missing, rule: rule.id }
    }
  }
  return { traces, held }
}
