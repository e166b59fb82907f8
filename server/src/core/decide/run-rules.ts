import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import type { RuleTrace } from './decision-outcome.ts'
import type { SlotReading } from './read-slots.ts'

/** Asks every rule in the order of the document, so that the trace is complete. */
export function runRules({ rules, inputs }: CompiledPolicy, { values }: SlotReading): RuleTrace[] {
  return rules.map(({ definition, holds, reads }) => {
    const answer = holds(values)
    const trace: RuleTrace = { rule: definition.id, action: definition.then, holds: answer ?? null }
    if (answer === undefined) {
      trace.missing = reads.filter((slot) => values[slot] === undefined).map((slot) => inputs[slot]!.definition.feature)
    }
    return trace
  })
}
