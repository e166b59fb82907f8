import type { Verdict } from '../vocabularies.ts'

/** One way in which a step settles a verdict: its key in the trace, the verdict, and why, in words for people. */
interface Settlement {
  by: string
  verdict: Verdict
  words: string
  /** Settles right after this step, although its own step is taken later. */
  rightAfter?: string
}

interface Step {
  key: string
  name: string
  /** Access without credit is not a question of repayment, so it does not take this step. */
  isCreditOnly?: true
  settles: readonly Settlement[]
}

/**
 * The steps on the way to a verdict, in the order in which the engine takes them. The first one that applies settles it:
 * `verdict.ts` has the conditions, docs/deciding.md explains them.
 */
export const SETTLING_STEPS = [
  {
    key: 'knock_out',
    name: 'Knock-out',
    settles: [{ by: 'knock_out', verdict: 'decline', words: 'a rule declines' }],
  },
  {
    key: 'data',
    name: 'Data',
    settles: [{ by: 'data_questioned', verdict: 'manual_review', words: 'a rule questions the data' }],
  },
  {
    key: 'score',
    name: 'Score',
    isCreditOnly: true,
    settles: [{ by: 'score', verdict: 'decline', words: 'the score is too low' }],
  },
  {
    key: 'completeness',
    name: 'Enough known',
    settles: [{ by: 'completeness', verdict: 'manual_review', words: 'too little is known' }],
  },
  {
    key: 'review_rules',
    name: 'Review rules',
    settles: [{ by: 'review_rule', verdict: 'manual_review', words: 'a rule asks for a person' }],
  },
  {
    key: 'confidence',
    name: 'Sure enough',
    isCreditOnly: true,
    settles: [{ by: 'confidence', verdict: 'manual_review', words: 'the score is not sure enough' }],
  },
  {
    key: 'limit',
    name: 'Limit',
    isCreditOnly: true,
    settles: [
      { by: 'limit_unknown', verdict: 'manual_review', words: 'the limit cannot be computed' },
      { by: 'no_limit_left', verdict: 'decline', words: 'the limit leaves nothing to lend', rightAfter: 'score' },
      { by: 'counter_offer', verdict: 'approve_with_conditions', words: 'less than was asked for is approved' },
    ],
  },
  {
    key: 'conditions',
    name: 'Conditions',
    settles: [{ by: 'conditions', verdict: 'approve_with_conditions', words: 'a rule asks for something first' }],
  },
  {
    key: 'approval',
    name: 'Approval',
    settles: [{ by: 'nothing_against', verdict: 'approve', words: 'nothing speaks against it' }],
  },
] as const satisfies readonly Step[]

/** One of the steps. */
export type SettlingStep = (typeof SETTLING_STEPS)[number]

/** The step that settled the verdict, as the trace records it; docs/deciding.md explains each. */
export type SettledBy = SettlingStep['settles'][number]['by']

const SETTLEMENTS: ReadonlyMap<string, Settlement> = new Map(
  SETTLING_STEPS.flatMap(({ settles }) => settles.map((settlement) => [settlement.by, settlement])),
)

/** A verdict and what settled it. */
export interface Settled {
  verdict: Verdict
  settledBy: SettledBy
}

/** The verdict that is settled in this way. */
export function settled(settledBy: SettledBy): Settled {
  return { verdict: SETTLEMENTS.get(settledBy)!.verdict, settledBy }
}

/** Why a verdict was settled, in words that can follow "because"; a key of an altered trace, which has none, stays as it is. */
export function wordsOf(settledBy: SettledBy): string {
  return SETTLEMENTS.get(settledBy)?.words ?? settledBy
}

/** The step after which a verdict is settled, if that is not the step before its own. */
export function settlesRightAfter(settledBy: SettledBy): string | undefined {
  return SETTLEMENTS.get(settledBy)?.rightAfter
}
