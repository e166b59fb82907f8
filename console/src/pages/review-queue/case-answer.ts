import type { InputOf } from '../../api/operation-types.ts'
import { currencyDecimals } from '../../components/money/currency-decimals.ts'
import { currentNotation } from '../../components/money/number-notation.ts'
import { moneyRules, type Reading, readAmount } from '../../components/money/read-amount.ts'
import { writeAmount } from '../../components/write-number.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'

/** What a decided case sends. */
export type CaseVerdict = InputOf<'cases.decide'>

type RequestVerdict = CaseVerdict['verdicts'][number]

/** A verdict of a reviewer. */
export type ReviewVerdict = RequestVerdict['verdict']

/** What the reviewer has written about one request. All texts are kept to the letter. */
export interface RequestAnswer {
  verdict?: ReviewVerdict
  limit: string
  /** One on each line. */
  conditions: string
  /** The text of the limit that the reviewer confirmed to be meant, though it is above the bounds. */
  confirmedLimit?: string
}

/** What the reviewer has written about a case so far: plain data, by the ids of the decisions. */
export interface CaseAnswer {
  reason: string
  requests: Readonly<Record<string, RequestAnswer>>
}

/** The answer before anything was written. */
export const NO_ANSWER: CaseAnswer = { reason: '', requests: {} }

/** The answer about one request: as written, or with the limit that the form offers. */
export function answerTo(request: WaitingRequest, { requests }: CaseAnswer): RequestAnswer {
  return requests[request.id] ?? { limit: limitToOffer(request), conditions: '' }
}

/** Changes the answer about one request. */
export function withAnswer(answer: CaseAnswer, request: WaitingRequest, changes: Partial<RequestAnswer>): CaseAnswer {
  return {
    ...answer,
    requests: { ...answer.requests, [request.id]: { ...answerTo(request, answer), ...changes } },
  }
}

/** What was asked for, or the lower amount that the policy could lend; nothing where its terms leave nothing. */
function limitToOffer({ requested, could_lend }: WaitingRequest): string {
  if (!requested) return ''
  const decimals = currencyDecimals(requested.currency)
  const offered = Math.min(requested.amount, could_lend?.amount ?? requested.amount)
  // Down to the decimals of the currency: what is offered must not be above the bounds.
  const whole = Math.floor(offered * 10 ** decimals) / 10 ** decimals
  return whole > 0 ? writeAmount(whole, decimals) : ''
}

/** What the text of a limit says. */
export function limitOf({ requested }: Pick<WaitingRequest, 'requested'>, { limit }: RequestAnswer): Reading {
  return readAmount(limit, moneyRules(currentNotation(), requested?.currency ?? ''))
}

/** How the limit of an approval stands to the bounds of the organization. */
export type Excess = 'none' | 'ask' | 'refuse'

/** Whether the limit of a request is within the bounds, has to be confirmed, or is refused. */
export function excessOf({ ask_above, refuse_above }: WaitingRequest, limit: number): Excess {
  if (ask_above === null || refuse_above === null || limit <= ask_above) return 'none'
  return limit > refuse_above ? 'refuse' : 'ask'
}

/** What the button will do: the verdicts that are complete, and what the form waits for if it cannot be sent. */
export interface CasePlan {
  requests: readonly RequestPlan[]
  /** Whether a limit is above what needs no confirmation. */
  isAbove: boolean
  waitsFor?: string
  /** What is sent; undefined while the form waits for something. */
  verdict?: CaseVerdict
}

/** What will be done about one request. */
export interface RequestPlan {
  request: WaitingRequest
  verdict?: ReviewVerdict
  /** The limit as it was understood. */
  limit?: number
  waitsFor?: string
}

/** What the answer amounts to. */
export function planOf(shown: ShownCase, answer: CaseAnswer): CasePlan {
  const requests = shown.requests.map((request) => planFor(request, answer))
  const isAbove = requests.some(({ request, limit }) => limit !== undefined && excessOf(request, limit) !== 'none')
  const waitsFor =
    missingVerdicts(requests) ??
    requests.find((plan) => plan.waitsFor)?.waitsFor ??
    reasonMissing(answer.reason, isAbove ? shown.bounds.reason_characters_min : 1)
  if (waitsFor) return { requests, isAbove, waitsFor }
  const verdicts = requests.map((plan) => verdictOf(plan, answerTo(plan.request, answer)))
  return { requests, isAbove, verdict: { id: shown.id, reason: answer.reason.trim(), verdicts } }
}

function planFor(request: WaitingRequest, answer: CaseAnswer): RequestPlan {
  const said = answerTo(request, answer)
  const { verdict } = said
  if (!verdict) return { request }
  const needsConditions = verdict === 'approve_with_conditions' && linesOf(said.conditions).length === 0
  const conditions = needsConditions ? { waitsFor: 'which conditions?' } : {}
  if (verdict === 'decline' || !request.requested) return { request, verdict, ...conditions }
  const reading = limitOf(request, said)
  if (reading.kind === 'empty') return { request, verdict, waitsFor: 'no limit yet' }
  if (reading.kind !== 'amount') return { request, verdict, waitsFor: 'which amount?' }
  const { amount: limit } = reading
  const excess = excessOf(request, limit)
  if (excess === 'refuse') return { request, verdict, limit, waitsFor: 'above the bounds' }
  if (excess === 'ask' && said.confirmedLimit !== said.limit)
    return { request, verdict, limit, waitsFor: 'is it meant?' }
  return { request, verdict, limit, ...conditions }
}

function missingVerdicts(plans: readonly RequestPlan[]): string | undefined {
  const missing = plans.filter(({ verdict }) => !verdict).length
  if (missing === 0) return undefined
  return missing === 1 ? 'one has no verdict' : `${missing} have no verdict`
}

function reasonMissing(reason: string, least: number): string | undefined {
  if (reason.trim().length >= least) return undefined
  return least === 1 ? 'give a reason' : 'say why'
}

function verdictOf({ request, verdict, limit }: RequestPlan, { conditions }: RequestAnswer): RequestVerdict {
  return {
    decision_id: request.id,
    verdict: verdict!,
    ...(verdict === 'approve_with_conditions' && { conditions: linesOf(conditions) }),
    ...(limit !== undefined && { recommended_limit: limit }),
    ...(limit !== undefined && excessOf(request, limit) === 'ask' && { excess_confirmed: true }),
  }
}

/** The conditions that were written, one on each line. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
