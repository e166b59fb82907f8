import type { Facts } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { judge } from './decide.ts'
import type { Evaluation, Reason } from './evaluation.ts'
import { meaningValues } from './meaning-values.ts'

/** The reasons of an evaluation whose meanings do not hold on the facts that it was made from. */
export function falseReasons(whole: CompiledPolicy, facts: Facts, { reasons }: Evaluation): Reason[] {
  const { policy, asked } = judge(whole, facts)
  const values = meaningValues(policy, asked)
  return reasons.filter(({ code }) => {
    const meaning = policy.meanings.get(code)
    return meaning !== undefined && meaning.holds(values) !== true
  })
}

/** The pairs of a negative and a positive reason of an evaluation that speak about the same, by the groups of the policy. */
export function opposedReasons(whole: CompiledPolicy, { reasons, terms }: Evaluation): [Reason, Reason][] {
  const { reasonGroups } = whole.segments.find(({ name }) => name === terms.segment)?.policy ?? whole
  const groupsOf = ({ code }: Reason) => reasonGroups.get(code) ?? []
  const positive = reasons.filter(({ impact }) => impact === 'positive')
  return reasons
    .filter(({ impact }) => impact === 'negative')
    .flatMap((one) =>
      positive
        .filter((other) => groupsOf(one).some((group) => groupsOf(other).includes(group)))
        .map((other): [Reason, Reason] => [one, other]),
    )
}
