import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import type { RuleTrace } from './decision-outcome.ts'
import type { SlotReading } from './read-slots.ts'

/** Asks every rule in the order of the document, so that the trace is complete. */
export function runRules({ rules, inputs }: CompiledPolicy, { values }: SlotReading): RuleTrace[] {
  const traces: RuleTrace[] = []
  for (const { definition, holds, reads } of rules) {
    const answer = holds(values)
    const { id: rule, then: action } = definition
    if (answer !== undefined) traces.push({ action, holds: answer, rule })
    else {
      const missing = reads.filter((slot) => values[slot] === undefined).map((slot) => inputs[slot]!.definition.feature)
      traces.push({ action, holds: null, missing, rule })
    }
  }
  return traces
}
