import { decide } from '../src/core/decide/decide.ts'
import type { Evaluation } from '../src/core/decide/evaluation.ts'
import type { FactValue, MissingBecause } from '../src/core/facts/facts.ts'
import { factsFrom } from '../src/core/facts/facts-from.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { GOOD } from './arbitrary-facts.ts'

/** Facts that a test gives, by name. */
export type Values = Record<string, FactValue>

/** What a policy decides about a good applicant with some other facts, or without some. */
export function ask(
  policy: CompiledPolicy,
  values: Values = {},
  causes: Record<string, MissingBecause> = {},
): Evaluation {
  return decide(policy, factsFrom({ ...GOOD, ...values }, undefined, causes))
}

/** The codes of the reasons of a decision. */
export function codesOf({ reasons }: { reasons: readonly { code: string }[] }): string[] {
  return reasons.map(({ code }) => code)
}
