import type { DecisionTrace } from '../core/decide/evaluation.ts'
import type { Facts } from '../core/facts/facts.ts'
import { numberOf, textOf } from '../core/facts/read-fact.ts'
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
import { domainEventRows } from '../store/write-path/record.ts'
import {
  type NewReview,
  type RecordedReview,
  type ReviewRequest,
  reviewDecision,
} from '../underwriting/review-decision.ts'
import {
  ATTEMPTS_MAX,
  asSeen,
  type CaseAct,
  type CaseProblem,
  contextOf,
  mayNotReview,
  openCase,
  TOO_BUSY,
  takenProblem,
} from './manage-cases.ts'

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

/** What a reviewer decides about a case: a verdict for each request, and one reason. */
export interface CaseVerdict {
  id: string
  reason: string
  /** One for each request of the case that waits, as the reviewer saw them. */
  verdicts: readonly RequestVerdict[]
  /** Whether the reviewer was told that the limits together are above the bounds, and means them. */
  isTotalConfirmed?: boolean | undefined
}

/** The most requests that one act decides. A case with more stays open, with the oldest of them. */
export const REQUESTS_PER_ACT_MAX = 20

/** The most conditions of one request, and the longest of them. */
export const CONDITIONS_MAX = 20
export const CONDITION_CHARACTERS_MAX = 500

/** The code of conditions that a reviewer writes in words. */
const CONDITION_CODE = 'reviewer_condition'

const CHANGED: CaseProblem = {
  problem: 'the requests of this case changed while you decided: look at them again',
  code: 'case_changed',
}

/**
 * Reviews every request of a case that waits, as `POST /v1/decisions/{id}/reviews` does, which closes the case. All reviews are
 * one change: either each request gets its verdict, or none does. A case that another operator has, or whose requests are not
 * those that the reviewer saw, is left as it is.
 */
export async function decideCase(
  installation: Installation,
  act: CaseAct,
  decided: CaseVerdict,
): Promise<{ reviews: RecordedReview[] } | CaseProblem> {
  const refused = mayNotReview(act)
  if (refused) return refused
  const { organizationId, operator } = act
  const store = installation.stores[act.environment]
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const found = await openCase(installation, act, decided.id)
    if ('problem' in found) return found
    if (found.assignee_id !== null && found.assignee_id !== operator.id) return takenProblem(installation, act, found)
    const waiting = await store.cases.waitingDecisions(organizationId, found.id, REQUESTS_PER_ACT_MAX)
    const pairs = pairsOf(waiting, decided.verdicts)
    if (!pairs) return CHANGED
    const { isTotalConfirmed } = decided
    const reviewed = await reviewAll(installation, act, { pairs, reason: decided.reason.trim(), isTotalConfirmed })
    if ('problem' in reviewed) return reviewed
    const { now, reviews } = reviewed
    const { auditEntries, events } = domainEventRows(
      { ...contextOf(installation, act), now },
      reviews.map(({ domainEvent }) => domainEvent),
    )
    const { lost } = await store.commit({
      organizationId,
      changedCases: [{ ...asSeen(found), assignee_id: operator.id, assigned_at: found.assigned_at ?? now }],
      rows: { reviews: reviews.map(({ row }) => row), events },
      auditEntries,
    })
    if (!lost) return { reviews: reviews.map(({ review }) => review) }
  }
  return TOO_BUSY
}

interface Pair {
  decision: WaitingDecision
  said: RequestVerdict
}

/** Each waiting decision with its verdict, oldest first; undefined unless every one has exactly one. */
function pairsOf(newestFirst: readonly WaitingDecision[], verdicts: readonly RequestVerdict[]): Pair[] | undefined {
  const byId = new Map(verdicts.map((said) => [said.decisionId, said]))
  if (byId.size !== verdicts.length || byId.size !== newestFirst.length) return undefined
  const pairs = newestFirst.toReversed().flatMap((decision) => {
    const said = byId.get(decision.id)
    return said ? [{ decision, said }] : []
  })
  return pairs.length === newestFirst.length ? pairs : undefined
}

async function reviewAll(
  installation: Installation,
  { environment, operator, organizationId }: CaseAct,
  { pairs, reason, isTotalConfirmed }: Pick<CaseVerdict, 'reason' | 'isTotalConfirmed'> & { pairs: readonly Pair[] },
): Promise<{ now: string; reviews: NewReview[] } | CaseProblem> {
  const store = installation.stores[environment]
  const bounds = await installation.stores.production.reviews.bounds(organizationId)
  const nowMs = Math.max(installation.nowMs(), ...pairs.map(({ decision }) => Date.parse(decision.created_at)))
  const now = new Date(nowMs).toISOString()
  const reviewer = { id: operator.id, name: operator.name }
  const reviews: NewReview[] = []
  for (const { decision, said } of pairs) {
    const problem = limitProblem(said, { ...amountsOf(decision), bounds, reason })
    if (problem) return problem
    const tools = { store, newId: installation.newId, now }
    const reviewed = await reviewDecision(tools, decision, requestOf(said, { reviewer, reason }))
    if ('violations' in reviewed) return { problem: reviewed.violations[0]!.message }
    reviews.push(reviewed)
  }
  const problem = totalProblem(pairs, { bounds, reason, isConfirmed: isTotalConfirmed })
  return problem ?? { now, reviews }
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

/** What was asked for, and what the policy could lend; nulls where that is not known any more, or it is about access. */
function amountsOf({ facts, trace }: WaitingDecision) {
  const features = facts === null ? undefined : (JSON.parse(facts) as Facts).features
  return {
    asked: features === undefined ? null : (numberOf(features, 'request.amount') ?? null),
    currency: features === undefined ? null : (textOf(features, 'request.currency') ?? null),
    lendable: trace === null ? null : couldLend((JSON.parse(trace) as DecisionTrace).limit),
  }
}

/** Why a limit is not taken as it is: missing, refused, or outside of the bounds without a confirmation and a reason. */
function limitProblem(
  { verdict, recommendedLimit: limit, isExcessConfirmed }: RequestVerdict,
  { asked, lendable, bounds, reason }: ReturnType<typeof amountsOf> & { bounds: ReviewBounds; reason: string },
): CaseProblem | undefined {
  if (verdict === 'decline' || asked === null) return undefined
  if (limit === undefined) return { problem: 'an approval of credit needs a limit' }
  const { ask_below, ask_above, refuse_above } = limitThresholds({ asked, couldLend: lendable }, bounds)
  if (limit >= ask_below && limit <= ask_above) return undefined
  const isLow = limit < ask_below
  if (limit > refuse_above)
    return outside(`a limit of more than ${bounds.refuse_above_times} times what was asked is refused`)
  if (isExcessConfirmed) return reasonProblem(reason, isLow ? 'the limit is so low' : 'the limit is so high')
  return outside(
    isLow
      ? `the limit is below ${bounds.ask_below_percent} % of what was asked, and of what the policy could lend: confirm it`
      : 'the limit is above what was asked, or above what the policy could lend: confirm it',
  )
}

/** Why the limits of one currency are not taken together, though each may be within its own bounds. */
function totalProblem(
  pairs: readonly Pair[],
  { bounds, reason, isConfirmed }: { bounds: ReviewBounds; reason: string; isConfirmed: boolean | undefined },
): CaseProblem | undefined {
  const requests = pairs.map(({ decision, said }) => {
    const { currency, lendable } = amountsOf(decision)
    return { currency, couldLend: lendable, limit: said.verdict === 'decline' ? undefined : said.recommendedLimit }
  })
  const above = totalThresholds(requests, bounds).find(({ currency, ask_above }) => {
    const limits = requests.flatMap((each) => (each.currency === currency ? (each.limit ?? []) : []))
    // One limit alone has its own thresholds.
    return limits.length > 1 && totalOf(limits) > ask_above
  })
  if (!above) return undefined
  return isConfirmed
    ? reasonProblem(reason, 'the limits together are so high')
    : outside(`the limits in ${above.currency} together are above what the policy could lend: confirm them`)
}

function reasonProblem(reason: string, what: string): CaseProblem | undefined {
  if (reason.length >= EXCESS_REASON_CHARACTERS_MIN) return undefined
  return outside(`say in the reason, in at least ${EXCESS_REASON_CHARACTERS_MIN} characters, why ${what}`)
}

function outside(problem: string): CaseProblem {
  return { problem, code: 'limit_outside_bounds' }
}
