import type { FactSet } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { readSlots } from './read-slots.ts'

const NOT_MEASURED: FactSet = {}

/**
 * The policy of the applicant's segment: the first whose condition holds, otherwise the document itself. No condition may
 * depend on the amount, so nothing has to be measured here and every amount is judged in the same segment.
 */
export function segmentFor(policy: CompiledPolicy, features: FactSet): CompiledPolicy {
  const { values } = readSlots(policy, features, NOT_MEASURED)
  return policy.segments.find(({ holds }) => holds(values) === true)?.policy ?? policy
}
