import type { BeyondLimit } from '../../../../server/src/core/approval-limits.ts'
import { currencyDecimals } from '../../../../server/src/core/schema/currency-decimals.ts'
import type { InputOf } from '../../api/operation-types.ts'
import { currentNotation, type NumberNotation } from '../../components/money/number-notation.ts'
import { moneyRules, type Reading, readAmount } from '../../components/money/read-amount.ts'
import { writeAmount, writeCount } from '../../components/write-number.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'
import { beyondOwnLimits } from './signatures.ts'

/** What a decided case sends. */
export type CaseVerdict = InputOf<'cases.decide'>

type RequestVerdict = CaseVerdict['verdicts'][number]

/** A verdict of a reviewer. */
export type ReviewVerdict = RequestVerdict['verdict']

/** What the reviewer has written about one request. All texts are kept to the letter. */
export interface RequestAnswer {
  verdict?: ReviewVerdict
  limit: string
  /** The notation that the limit was written in: in another one, the same text may be another amount. */
  notation: NumberNotation
  /** One on each line. */
  conditions: string
  /** The limit that the reviewer confirmed to be meant, though it is outside of the bounds. */
  confirmedLimit?: number | undefined
}

/** What the reviewer has written about a case so far: plain data, by the ids of the decisions. */
export interface CaseAnswer {
  reason: string
  requests: Readonly<Record<string, RequestAnswer>>
  /** The sums of limits that the reviewer confirmed to be meant. */
  confirmedTotals?: readonly Total[] | undefined
}

/** The sum of the limits in one currency. */
export interface Total {
  currency: string
  amount: number
}

/** The answer before anything was written. */
export const NO_ANSWER: CaseAnswer = { reason: '', requests: {} }

/** The answer about one request: as written, or with the limit that the form offers. */
export function answerTo(request: WaitingRequest, { requests }: CaseAnswer): RequestAnswer {
  const notation = currentNotation()
  const written = requests[request.id]
  if (!written) return { limit: limitToOffer(request), notation, conditions: '' }
  return written.notation === notation ? written : { ...written, limit: rewritten(request, written), notation }
}

/** The text of a limit in the notation of now; none if it did not say an amount in the notation that it was written in. */
function rewritten(request: WaitingRequest, written: RequestAnswer): string {
  const reading = limitOf(request, written)
  return reading.kind === 'amount'
    ? writeAmount(reading.amount, currencyDecimals(request.requested?.currency ?? ''))
    : ''
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
  // Down to the decimals of the currency, because what is offered must not be above the bounds; 19.99 is 1998.99… binary cents.
  const minor = 10 ** decimals
  const whole = Math.floor(Math.round(offered * minor * 10_000) / 10_000) / minor
  return whole > 0 ? writeAmount(whole, decimals) : ''
}

/** What the text of a limit says. */
export function limitOf(
  { requested }: Pick<WaitingRequest, 'requested'>,
  { limit, notation }: Pick<RequestAnswer, 'limit' | 'notation'>,
): Reading {
  // A draft that does not say its notation could mean several amounts.
  return notation ? readAmount(limit, moneyRules(notation, requested?.currency ?? '')) : { kind: 'empty' }
}

/** How the limit of an approval stands to the bounds of the organization. */
export type Standing = 'within' | 'low' | 'high' | 'refused'

/** Whether the limit of a request is within the bounds, has to be confirmed as so low or so high, or is refused. */
export function standingOf({ ask_below, ask_above, refuse_above }: WaitingRequest, limit: number): Standing {
  if (ask_below === null || ask_above === null || refuse_above === null) return 'within'
  if (limit > refuse_above) return 'refused'
  if (limit > ask_above) return 'high'
  return limit < ask_below ? 'low' : 'within'
}

/** The sums of limits that are above what needs no confirmation, where a currency has several limits. */
function totalsAbove({ totals }: Pick<ShownCase, 'totals'>, plans: readonly RequestPlan[]): Total[] {
  return totals
    .map(({ currency, ask_above }) => {
      const limits = plans.flatMap(({ request, limit }) =>
        request.requested?.currency === currency ? (limit ?? []) : [],
      )
      const minor = 10 ** currencyDecimals(currency)
      const amount = Math.round(limits.reduce((sum, limit) => sum + limit, 0) * minor) / minor
      return { currency, amount, isAbove: limits.length > 1 && amount > ask_above }
    })
    .filter(({ isAbove }) => isAbove)
    .map(({ currency, amount }) => ({ currency, amount }))
}

/** What the button will do: the verdicts that are complete, and what the form waits for if it cannot be sent. */
export interface CasePlan {
  requests: readonly RequestPlan[]
  /** How a limit is, or the limits together are, that the reason has to explain. */
  unusual?: 'low' | 'high' | undefined
  /** The limits together, by currency, where they have to be confirmed. */
  totals: readonly Total[]
  /** What is above the limits of the reviewer, so that a second person has to sign too. */
  beyond: readonly BeyondLimit[]
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
export function planOf(shown: ShownCase, answer: CaseAnswer, me?: string): CasePlan {
  const requests = shown.requests.map((request) => planFor(request, answer, shown.bounds))
  const totals = totalsAbove(shown, requests)
  const unusual = unusualOf(requests, totals)
  const waitsFor =
    missingVerdicts(requests) ??
    requests.find((plan) => plan.waitsFor)?.waitsFor ??
    (totals.every((total) => isConfirmedTotal(answer, total)) ? undefined : 'is the sum meant?') ??
    reasonMissing(answer.reason, unusual ? shown.bounds.reason_characters_min : 1)
  const plan = { requests, unusual, totals, beyond: beyondOwnLimits(shown, requests, me) }
  if (waitsFor) return { ...plan, waitsFor }
  const verdicts = requests.map((each) => verdictOf(each, answerTo(each.request, answer)))
  const verdict = {
    id: shown.id,
    reason: answer.reason.trim(),
    verdicts,
    ...(totals.length > 0 && { total_confirmed: true }),
  }
  return { ...plan, verdict }
}

/** Whether the reviewer has confirmed this very sum. */
export function isConfirmedTotal({ confirmedTotals = [] }: CaseAnswer, { currency, amount }: Total): boolean {
  return confirmedTotals.some((confirmed) => confirmed.currency === currency && confirmed.amount === amount)
}

/** Confirms a sum, or takes that back. */
export function withTotal(answer: CaseAnswer, total: Total, isMeant: boolean): CaseAnswer {
  const others = (answer.confirmedTotals ?? []).filter(({ currency }) => currency !== total.currency)
  return { ...answer, confirmedTotals: isMeant ? [...others, total] : others }
}

function unusualOf(plans: readonly RequestPlan[], totals: readonly Total[]): CasePlan['unusual'] {
  const standings = plans.map(({ request, limit }) => (limit === undefined ? 'within' : standingOf(request, limit)))
  if (totals.length > 0 || standings.some((standing) => standing === 'high' || standing === 'refused')) return 'high'
  return standings.includes('low') ? 'low' : undefined
}

function planFor(request: WaitingRequest, answer: CaseAnswer, bounds: ConditionBounds): RequestPlan {
  const said = answerTo(request, answer)
  const { verdict } = said
  if (!verdict) return { request }
  const problem = verdict === 'approve_with_conditions' ? conditionsProblem(said.conditions, bounds) : undefined
  const conditions = problem ? { waitsFor: problem.waitsFor } : {}
  if (verdict === 'decline' || !request.requested) return { request, verdict, ...conditions }
  const reading = limitOf(request, said)
  if (reading.kind === 'empty') return { request, verdict, waitsFor: 'no limit yet' }
  if (reading.kind !== 'amount') return { request, verdict, waitsFor: 'which amount?' }
  const { amount: limit } = reading
  const standing = standingOf(request, limit)
  if (standing === 'refused') return { request, verdict, limit, waitsFor: 'above the bounds' }
  if (standing !== 'within' && said.confirmedLimit !== limit)
    return { request, verdict, limit, waitsFor: 'is it meant?' }
  return { request, verdict, limit, ...conditions }
}

type ConditionBounds = Pick<ShownCase['bounds'], 'conditions_max' | 'condition_characters_max'>

/** What is wrong with the conditions of a request, in short for the button and in a sentence for the field. */
export function conditionsProblem(
  text: string,
  { conditions_max: most, condition_characters_max: longest }: ConditionBounds,
): { waitsFor: string; why: string } | undefined {
  const lines = linesOf(text)
  if (lines.length === 0) return { waitsFor: 'which conditions?', why: 'Write at least one condition.' }
  if (lines.length > most)
    return {
      waitsFor: 'too many conditions',
      why: `These are ${writeCount(lines.length)} conditions; at most ${writeCount(most)} can be sent.`,
    }
  const long = lines.find((line) => line.length > longest)
  if (long === undefined) return undefined
  return {
    waitsFor: 'a condition is too long',
    why: `“${long.slice(0, 20)}…” has ${writeCount(long.length)} characters; a condition has at most ${writeCount(longest)}.`,
  }
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
    ...(limit !== undefined && standingOf(request, limit) !== 'within' && { excess_confirmed: true }),
  }
}

/** The conditions that were written, one on each line. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
