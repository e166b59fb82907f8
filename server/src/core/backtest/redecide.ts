import { type Judgement, judge } from '../decide/decide.ts'
import { replayableFacts } from '../decide/replayable-facts.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'

/** A recorded decision, as it is stored. */
export interface RecordedCase {
  id: string
  entity_id: string
  verdict: Verdict
  created_at: string
  recommended_limit: number | null
  /** Its facts, canonical JSON. */
  facts: string
}

/** What a policy decides on the facts of a recorded decision. Amounts are in the reference currency of that policy. */
export interface Redecided {
  verdict: Verdict
  /** The ids of the rules that hold. */
  held: readonly string[]
  /** The probability of a bad outcome in millionths; null if it is not known. */
  badPpm: number | null
  /** The approved amount, then and now; null if none was. */
  amountBefore: number | null
  amountAfter: number | null
}

/** Decides a recorded decision again; undefined if its facts cannot be read. */
export type Redecide = (recorded: RecordedCase) => Redecided | undefined

/** Decides recorded decisions again under another policy, without a trace. */
export function redecider(policy: CompiledPolicy): Redecide {
  return ({ facts: text, recommended_limit }) => {
    try {
      const stored = replayableFacts(JSON.parse(text))
      if ('unreadable' in stored) return undefined
      return redecided(policy, judge(policy, stored.facts), recommended_limit)
    } catch {
      // Facts that were altered may be no JSON, or numbers too large to compute with.
      return undefined
    }
  }
}

function redecided(
  policy: CompiledPolicy,
  { verdict, asked, offer }: Judgement,
  limitBefore: number | null,
): Redecided {
  const perReference = policy.currencies.get(asked.figures.currency ?? '')?.perReference
  const inReference = (amount: number | null | undefined) =>
    perReference === undefined || amount === null || amount === undefined ? null : amount / perReference
  const isLent = verdict === 'approve' || verdict === 'approve_with_conditions'
  return {
    verdict,
    held: asked.held.map(({ id }) => id),
    badPpm: asked.badPpm,
    amountBefore: inReference(limitBefore),
    amountAfter: isLent ? inReference(offer.limit?.amount) : null,
  }
}
