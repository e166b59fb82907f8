import { type CaseAnswer, limitOf, linesOf, type RequestAnswer } from './case-answer.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'

type CaseDecision = ShownCase['decisions'][number]

/** A request of a case that was decided. */
export type DecidedRequest = Pick<CaseDecision, 'id' | 'product' | 'requested'> & {
  review: NonNullable<CaseDecision['review']>
}

/** Why what a reviewer wrote about a case cannot be sent as it is. */
export interface CaseConflict {
  /** The requests that were decided meanwhile, oldest first. */
  decided: readonly DecidedRequest[]
  /** How many requests of the case still wait. */
  waiting: number
  /** The colleague who has the case now. */
  holder?: NonNullable<ShownCase['assignee']>
}

/** Finds what stands against an answer: decided requests, or a colleague who took the case. */
export function conflictOf(shown: ShownCase, answer: CaseAnswer, me: string | undefined): CaseConflict | undefined {
  const { decisions, decision, requests, end, assignee } = shown
  const listed = decisions.filter(isDecided).filter(({ id }) => end || answer.requests[id]?.verdict)
  const decided: DecidedRequest[] = listed.length === 0 && end ? [{ ...decision, review: end }] : listed
  const holder = assignee && assignee.id !== me && !end ? assignee : undefined
  if (decided.length === 0 && !holder) return undefined
  return { decided: decided.toReversed(), waiting: requests.length, ...(holder && { holder }) }
}

/** Whether the reviews of a case say, under the reviewer's own name, just what the answer says. */
export function isRecorded({ decisions, requests }: ShownCase, answer: CaseAnswer, me: string | undefined): boolean {
  const answered = Object.entries(answer.requests).filter(([, { verdict }]) => verdict)
  if (answered.length === 0 || requests.length > 0) return false
  return answered.every(([id, said]) => {
    const decision = decisions.find((one) => one.id === id)
    return (
      decision !== undefined &&
      isDecided(decision) &&
      decision.review.by_id === me &&
      isSameAs(decision, said, answer.reason)
    )
  })
}

/** The requests that the form shows: those that wait, and those about which the reviewer wrote; oldest first. */
export function requestsToShow({ decisions, requests }: ShownCase, answer: CaseAnswer): WaitingRequest[] {
  const waiting = new Map(requests.map((request) => [request.id, request]))
  const decided = decisions.filter(({ id }) => !waiting.has(id) && answer.requests[id]?.verdict).map(withoutBounds)
  return [...decided, ...requests].sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** The answer without what it says about requests that no longer wait. */
export function onlyWaiting({ requests }: ShownCase, answer: CaseAnswer): CaseAnswer {
  const waiting = requests.flatMap(({ id }) => {
    const said = answer.requests[id]
    return said ? [[id, said] as const] : []
  })
  return { ...answer, requests: Object.fromEntries(waiting) }
}

function isDecided(decision: CaseDecision): decision is CaseDecision & DecidedRequest {
  return decision.review !== null
}

function isSameAs({ review, requested }: DecidedRequest, said: RequestAnswer, reason: string): boolean {
  if (review.verdict !== said.verdict || review.reason !== reason.trim()) return false
  if (said.verdict === 'decline') return true
  const reading = limitOf({ requested }, said)
  const limit = requested && reading.kind === 'amount' ? reading.amount : undefined
  const conditions = said.verdict === 'approve_with_conditions' ? linesOf(said.conditions) : []
  return review.limit?.amount === limit && review.conditions.join('\n') === conditions.join('\n')
}

/** A decided request is shown without the bounds of limits: it cannot be decided here. */
function withoutBounds({ id, product, requested, decided_at }: CaseDecision): WaitingRequest {
  const bounds = { could_lend: null, taken_since: 0, ask_below: null, ask_above: null, refuse_above: null }
  return { id, product, requested, decided_at, ...bounds }
}
