import { decide } from '../src/core/decide/decide.ts'
import type { Evaluation, Reason } from '../src/core/decide/evaluation.ts'
import { falseReasons, opposedReasons } from '../src/core/decide/false-reasons.ts'
import type { Facts } from '../src/core/facts/facts.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'

/** What is wrong with the reasons of one decision; all lists are empty if nothing is. */
export interface ReasonFaults {
  evaluation: Evaluation
  /** Reasons whose meanings do not hold. */
  untrue: Reason[]
  /** Reasons whose meaning the policy does not state, so that nothing checks them. */
  unchecked: Reason[]
  /** Pairs of a negative and a positive reason about the same. */
  opposed: [Reason, Reason][]
  /** Whether there is no reason at all, or no negative one for a decline or a review. */
  isUnexplained: boolean
}

/** Decides, and finds what is wrong with the reasons. */
export function reasonFaults(policy: CompiledPolicy, facts: Facts): ReasonFaults {
  const evaluation = decide(policy, facts)
  const { reasons, verdict } = evaluation
  const isRefused = verdict === 'decline' || verdict === 'manual_review'
  const opposed = new Map(
    [...opposedReasons(policy, evaluation), ...opposedByWords(reasons)].map((pair) => [
      `${pair[0].code} ${pair[1].code}`,
      pair,
    ]),
  )
  return {
    evaluation,
    untrue: falseReasons(policy, facts, evaluation),
    unchecked: reasons.filter(({ code }) => !policy.meanings.has(code) && !isLast(policy, code)),
    opposed: [...opposed.values()],
    isUnexplained: !reasons.some(({ impact }) => !isRefused || impact === 'negative'),
  }
}

/** Whether a reason is one that stands for want of any other; it says what the engine found. */
function isLast({ fewStrengths, nothingAgainst }: CompiledPolicy, code: string): boolean {
  return code === fewStrengths.code || code === nothingAgainst.code
}

/** What labels are about, by their words: a check of the groups that a policy names, by another way. */
const SUBJECTS: readonly RegExp[] = [
  /\bincome\b/i,
  /\bspending\b/i,
  /\bbalances?\b|\boverdrawn\b|\breserves\b/i,
  /\bidentit|\bidentifier|\bidentified\b/i,
  /\bearlier credit\b/i,
]

function opposedByWords(reasons: readonly Reason[]): [Reason, Reason][] {
  const about = (label: string) => SUBJECTS.filter((subject) => subject.test(label))
  const positive = reasons.filter(({ impact }) => impact === 'positive')
  return reasons
    .filter(({ impact }) => impact === 'negative')
    .flatMap((one) =>
      positive
        .filter((other) => about(one.label).some((subject) => about(other.label).includes(subject)))
        .map((other): [Reason, Reason] => [one, other]),
    )
}
