import { requestedIn } from '../core/facts/read-fact.ts'
import {
  couldLend,
  EXCESS_REASON_CHARACTERS_MIN,
  limitThresholds,
  type ReviewBounds,
  totalOf,
  totalThresholds,
} from '../core/review-bounds.ts'
import type { REVIEW_VERDICTS } from '../core/vocabularies.ts'
import type { Installation } from '../installation/installation.ts'
import type { WaitingDecision } from '../store/environment/cases.ts'
import { type NewReview, type ReviewRequest, reviewDecision } from '../underwriting/review-decision.ts'
import { readReviewEvidence } from '../underwriting/review-evidence.ts'
import { type StandingCredit, takenSince } from '../underwriting/standing-credit.ts'
import type { EnvironmentAct, OperatorActor, Reasoned } from './act.ts'
import { conflict, invalid, type Problem } from './problem.ts'

/** What a reviewer decides about one request of a case. */
export interface RequestVerdict {
  decisionId: string
  verdict: (typeof REVIEW_VERDICTS)[number]
  /** What the applicant has to do first, each in words. */
  conditions?: readonly string[] | undefined
  recommendedLimit?: number | undefined
  /** Whether the reviewer was told that the limit is outside of the bounds of the organization, and means it. */
  isExcessConfirmed?: boolean | undefined
}

/** The code of conditions that a reviewer writes in words. */
const CONDITION_CODE = 'reviewer_condition'

/** A waiting decision, and what a reviewer says about it. */
export interface Pair {
  decision: WaitingDecision
  said: RequestVerdict
}

/** Each waiting decision with its verdict, oldest first; throws unless every one has exactly one. */
export function pairsOf(newestFirst: readonly WaitingDecision[], verdicts: readonly RequestVerdict[]): Pair[] {
  const byId = new Map(verdicts.map((said) => [said.decisionId, said]))
  const pairs = newestFirst.toReversed().flatMap((decision) => {
    const said = byId.get(decision.id)
    return said ? [{ decision, said }] : []
  })
  const isComplete = pairs.length === newestFirst.length && pairs.length === verdicts.length
  if (!isComplete) throw conflict('case_changed', 'The requests of this case changed while you decided.')
  return pairs
}

/** The reviews that a verdict makes; throws if a limit is missing, refused or unconfirmed. */
export async function reviewAll(
  installation: Installation,
  { environment, by: { operator }, organizationId, reason }: Reasoned<EnvironmentAct<OperatorActor>>,
  {
    pairs,
    credit,
    isTotalConfirmed,
  }: { isTotalConfirmed: boolean | undefined; pairs: readonly Pair[]; credit: StandingCredit },
): Promise<{ now: string; reviews: NewReview[] }> {
  const store = installation.stores[environment]
  const bounds = await installation.stores.production.reviews.bounds(organizationId)
  const nowMs = Math.max(installation.nowMs(), ...pairs.map(({ decision }) => Date.parse(decision.created_at)))
  const now = new Date(nowMs).toISOString()
  const reviewer = { id: operator.id, name: operator.name }
  const reviews: NewReview[] = []
  for (const { decision, said } of pairs) {
    requireWithinBounds(said, { ...amountsOf(decision, credit), bounds, reason })
    const tools = { store, newId: installation.newId, now }
    const reviewed = reviewDecision(tools, decision, requestOf(said, { reviewer, reason }))
    if ('violations' in reviewed) throw invalid('review_contradictory', reviewed.violations[0]!.message)
    reviews.push(reviewed)
  }
  requireTotalWithinBounds(pairs, { credit, bounds, reason, isConfirmed: isTotalConfirmed })
  return { now, reviews }
}

function requestOf(
  { verdict, conditions, recommendedLimit }: RequestVerdict,
  { reviewer, reason }: Pick<ReviewRequest, 'reviewer' | 'reason'>,
): ReviewRequest {
  return {
    verdict,
    reviewer,
    reason,
    ...(conditions?.length && {
      conditions: conditions.map((label) => ({ code: CONDITION_CODE, label: label.trim() })),
    }),
    ...(recommendedLimit !== undefined && { recommended_limit: recommendedLimit }),
  }
}

/** What was asked for, and what the policy could still lend; nulls where that is not known any more, or it is about access. */
function amountsOf(decision: WaitingDecision, credit: StandingCredit) {
  const { state, facts, trace } = readReviewEvidence(decision)
  const asked = requestedIn(facts?.features)
  const taken = facts && asked ? takenSince(credit, facts, asked.currency) : 0
  return {
    isAltered: state === 'altered',
    asked: asked?.amount ?? null,
    currency: asked?.currency ?? null,
    taken,
    lendable: trace ? couldLend(trace.limit, taken) : null,
  }
}

/** Takes no limit that is missing, refused, or outside of the bounds without a confirmation and a reason. */
function requireWithinBounds(
  { verdict, recommendedLimit: limit, isExcessConfirmed }: RequestVerdict,
  {
    isAltered,
    asked,
    taken,
    lendable,
    bounds,
    reason,
  }: ReturnType<typeof amountsOf> & { bounds: ReviewBounds; reason: string },
): void {
  if (verdict === 'decline') return
  // Without its evidence, a request for credit would pass as one for access, which needs no limit.
  if (isAltered)
    throw conflict(
      'evidence_altered',
      'The evidence of a request was altered and cannot be read, so it can only be declined.',
    )
  if (asked === null) return
  if (limit === undefined) throw invalid('limit_missing', 'An approval of credit needs a limit.')
  const { ask_below, ask_above, refuse_above } = limitThresholds({ asked, couldLend: lendable }, bounds)
  if (limit >= ask_below && limit <= ask_above) return
  const isLow = limit < ask_below
  if (limit > refuse_above)
    throw outside(`A limit of more than ${bounds.refuse_above_times} times what was asked is refused.`)
  if (!isExcessConfirmed)
    throw outside(
      isLow
        ? `The limit is below ${bounds.ask_below_percent} % of what was asked, and of what the policy could lend. It has to be confirmed.`
        : `The limit is above what was asked, or above what the policy could lend${afterTaken(taken)}. It has to be confirmed.`,
    )
  requireLongReason(reason, isLow ? 'the limit is so low' : 'the limit is so high')
}

/** Takes no limits of one currency that are too high together, though each may be within its own bounds. */
function requireTotalWithinBounds(
  pairs: readonly Pair[],
  {
    credit,
    bounds,
    reason,
    isConfirmed,
  }: { credit: StandingCredit; bounds: ReviewBounds; reason: string; isConfirmed: boolean | undefined },
): void {
  const requests = pairs.map(({ decision, said }) => {
    const { currency, lendable } = amountsOf(decision, credit)
    return { currency, couldLend: lendable, limit: said.verdict === 'decline' ? undefined : said.recommendedLimit }
  })
  const above = totalThresholds(requests, bounds).find(({ currency, ask_above }) => {
    const limits = requests.flatMap((each) => (each.currency === currency ? (each.limit ?? []) : []))
    // One limit alone has its own thresholds.
    return limits.length > 1 && totalOf(limits) > ask_above
  })
  if (!above) return
  if (!isConfirmed)
    throw outside(
      `The limits in ${above.currency} together are above what the policy could lend. They have to be confirmed.`,
    )
  requireLongReason(reason, 'the limits together are so high')
}

function requireLongReason(reason: string, what: string): void {
  if (reason.length < EXCESS_REASON_CHARACTERS_MIN)
    throw outside(`The reason has to say, in at least ${EXCESS_REASON_CHARACTERS_MIN} characters, why ${what}.`)
}

function afterTaken(taken: number): string {
  return taken > 0 ? `, of which ${taken} was offered or paid out since` : ''
}

function outside(message: string): Problem {
  return invalid('limit_outside_bounds', message)
}
