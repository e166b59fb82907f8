import { type AssessedAmount, assessAt } from '../decide/assess.ts'
import { type Judgement, judge } from '../decide/decide.ts'
import { replayableFacts } from '../decide/replayable-facts.ts'
import { type DecidedRequest, type ReviewedVerdict, standingOf } from '../decision-standing.ts'
import type { FactSet } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import { cardOf } from './backtest-counts.ts'

/** A recorded decision, as it is stored. */
export interface RecordedCase extends DecidedRequest {
  id: string
  entity_id: string
  verdict: Verdict
  created_at: string
  /** Its facts, canonical JSON. */
  facts: string
}

/** What stands for a decision: whether it is approved, and what of it is at risk. */
export interface Standing {
  isApproved: boolean
  /** Null unless credit is approved. */
  credit: ApprovedCredit | null
}

/** An approved credit. */
export interface ApprovedCredit {
  /** In the reference currency of the proposal; null if that has no rate for the currency. */
  amount: number | null
  score: number
  /** The probability of a bad outcome at this amount, by the proposal, in millionths; null if it is not known. */
  badPpm: number | null
  /** The scorecard whose table the probability is from; null if it is external. */
  card: string | null
}

/** What a policy decides on the facts of a recorded decision, and what stood and would stand after people looked at it. */
export interface Redecided {
  verdict: Verdict
  /** The ids of the rules that hold. */
  held: readonly string[]
  before: Standing
  after: Standing
  /** Whether the verdict of a person stands before or after. */
  isByPerson: boolean
  /** The facts that it was decided from. */
  features: FactSet
}

/** Decides a recorded decision again, with its newest review if it has any; undefined if its facts cannot be read. */
export type Redecide = (recorded: RecordedCase, review: ReviewedVerdict | undefined) => Redecided | undefined

/** Decides recorded decisions again under another policy, without a trace. */
export function redecider(policy: CompiledPolicy): Redecide {
  return (recorded, review) => {
    try {
      const stored = replayableFacts(JSON.parse(recorded.facts))
      if ('unreadable' in stored) return undefined
      return {
        ...redecided(policy, judge(policy, stored.facts), { recorded, review }),
        features: stored.facts.features,
      }
    } catch {
      // Facts that were altered may be no JSON, or numbers too large to compute with.
      return undefined
    }
  }
}

/**
 * The verdict of a person stands for the decision that they looked at. Under the proposal it stands where a person would look
 * again: at a case for review, and at a decision that is as it was.
 */
function redecided(
  whole: CompiledPolicy,
  judgement: Judgement,
  { recorded, review }: { recorded: RecordedCase; review: ReviewedVerdict | undefined },
): Omit<Redecided, 'features'> {
  const { verdict, asked, offer } = judgement
  const stood = standingOf(recorded, review)
  const before = standing(whole, judgement, stood)
  const isAlike = verdict === 'manual_review' || verdict === recorded.verdict
  const isApproved = verdict === 'approve' || verdict === 'approve_with_conditions'
  const after =
    review !== undefined && isAlike
      ? before
      : standing(whole, judgement, { isApproved, amount: offer.limit?.amount ?? null })
  return { verdict, held: asked.held.map(({ id }) => id), before, after, isByPerson: review !== undefined }
}

function standing(
  whole: CompiledPolicy,
  judgement: Judgement,
  { isApproved, amount }: { isApproved: boolean; amount: number | null },
): Standing {
  const { policy, asked, offer } = judgement
  const { currency, amount: requested } = asked.figures
  // Access has no amount, also if the former policy took the request for credit.
  if (!isApproved || requested === undefined) return { isApproved, credit: null }
  const perReference = policy.currencies.get(currency ?? '')?.perReference
  const at = amount ?? requested
  const { total: score, badPpm } = assessedAt(judgement, at)
  const isExternal = policy.probabilitySlot !== undefined && asked.reading.values[policy.probabilitySlot] !== undefined
  return {
    isApproved,
    credit: {
      amount: perReference === undefined ? null : at / perReference,
      score,
      badPpm,
      card: isExternal ? null : cardOf(whole.document, policy.segment),
    },
  }

  function assessedAt({ asked: own }: Judgement, wanted: number): AssessedAmount {
    if (wanted === requested) return own
    if (wanted === offer.offered.figures.amount) return offer.offered
    return assessAt(policy, own, wanted)
  }
}
