import { Time } from '../../components/time.tsx'
import { writeMoney } from '../../components/write-number.ts'
import { type CaseAnswer, limitOf, type RequestAnswer } from './case-answer.ts'
import type { CaseConflict, DecidedRequest } from './case-conflict.ts'
import type { ShownCase } from './review-case.ts'

interface ConflictWordsProps {
  conflict: CaseConflict
  me: string | undefined
  /** Whether the reviewer sent the text, and no answer came. */
  isUnanswered: boolean
}

/** Says who was faster, what they decided about each request, and what still waits. */
export function ConflictWords({ conflict, me, isUnanswered }: ConflictWordsProps) {
  const { decided, waiting, holder } = conflict
  const last = decided
    .map(({ review }) => review)
    .sort((one, other) => one.at.localeCompare(other.at))
    .at(-1)
  const isOwn = decided.length > 0 && decided.every(({ review }) => review.by_id === me)
  const what = waiting > 0 ? `${decided.length} of ${decided.length + waiting} requests` : 'this'
  return (
    <>
      {holder && (
        <div>
          <b>
            {holder.name} took this case <Time at={holder.since} as="relative" />; your text is kept.
          </b>
        </div>
      )}
      {last && (
        <div>
          <b>
            {namesOf(decided, me)} decided {what} <Time at={last.at} as="relative" />, at{' '}
            <Time at={last.at} as="time" />
            {isOwn && isUnanswered
              ? ': the first try had arrived, though its answer was lost.'
              : '; your text is kept.'}
          </b>
        </div>
      )}
      {decided.map((request) => (
        <div key={request.id}>
          {request.review.by_id === me ? 'You' : request.review.by} {deedOf(request, decided.length + waiting > 1)}: “
          {request.review.reason}”
        </div>
      ))}
      {last && waiting > 0 && (
        <div>
          {waiting === 1 ? 'One request still waits' : `${waiting} requests still wait`} for a verdict: what you wrote
          about {waiting === 1 ? 'it' : 'them'} can be sent.
        </div>
      )}
      {last && waiting === 0 && (
        <div>{isOwn ? 'What you changed since was not sent.' : 'What you wrote was not recorded.'}</div>
      )}
    </>
  )
}

/** "Priya Sample", "You and Carla". */
function namesOf(decided: readonly DecidedRequest[], me: string | undefined): string {
  const names = new Set(decided.map(({ review }) => (review.by_id === me ? 'You' : review.by)))
  return [...names].join(' and ')
}

/** `declined the personal loan of €6,000`; which request it was only where there are several. */
function deedOf({ product, requested, review: { verdict, limit } }: DecidedRequest, isOneOfMany: boolean): string {
  const did = verdict === 'decline' ? 'declined' : 'approved'
  const granted = limit ? ` ${writeMoney(limit.amount, limit.currency)}` : ''
  const withConditions = verdict === 'approve_with_conditions' ? ' with conditions' : ''
  const which = isOneOfMany ? `${limit ? ' of' : ''} the ${requestWords({ product, requested })}` : ''
  return `${did}${granted}${which}${withConditions}`
}

function requestWords({ product, requested }: Pick<DecidedRequest, 'product' | 'requested'>): string {
  const asked = requested ? ` of ${writeMoney(requested.amount, requested.currency)}` : ''
  return `${product.replaceAll('_', ' ')}${asked}`
}

/** A limit that reads alike in every notation; as it was typed if it was not understood. */
function limitWords({ requested }: Pick<DecidedRequest, 'requested'>, answer: RequestAnswer): string {
  const reading = limitOf({ requested }, answer)
  if (reading.kind === 'empty' || !requested) return ''
  return `limit ${reading.kind === 'amount' ? `${reading.amount} ${requested.currency}` : answer.limit.trim()}`
}

/** What the reviewer wrote, in words: the answers to the requests, then the reason. */
export function textOf({ decisions }: ShownCase, { requests, reason }: CaseAnswer): string {
  const answers = decisions.flatMap(({ id, product, requested }) => {
    const answer = requests[id]
    if (!answer?.verdict) return []
    const asked = requested ? ` (${writeMoney(requested.amount, requested.currency)} asked)` : ''
    const said = [
      answer.verdict.replaceAll('_', ' '),
      answer.verdict !== 'decline' && limitWords({ requested }, answer),
      answer.conditions.trim(),
    ]
    return [`${product.replaceAll('_', ' ')}${asked}: ${said.filter(Boolean).join(', ')}`]
  })
  return [...answers, reason.trim()].filter((line) => line !== '').join('\n')
}
