import type { CompiledPolicy, CompiledRule } from '../policy/compiled-policy.ts'
import type { RuleTrace } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'

/** The trace of every rule, and the rules that hold; both in the order of the document. */
export interface RuleAnswers {
  traces: RuleTrace[]
  held: CompiledRule[]
}

/** Evaluates every rule, also after one has settled the verdict, so that the trace is complete. */
export function runRules({ rules, inputs }: CompiledPolicy, { values }: SlotReading): RuleAnswers {
  const held: CompiledRule[] = []
  const traces: RuleTrace[] = []
  for (const rule of rules) {
    const { action, id, reads } = rule
    const holds = rule.holds(values)
    if (holds === true) held.push(rule)
    if (holds === true || holds === false) traces.push({ action, holds, rule: id })
    else {
      const missing = reads.filter((slot) => values[slot] === undefined).map((slot) => inputs[slot]!.feature)
      traces.push({ action, holds: null, missing, rule: id })
    }
  }
  return { traces, held }
}
