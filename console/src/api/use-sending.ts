import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import type { ApiError } from './api-error.ts'
import { showDone } from './messages.ts'
import { newIdempotencyKey } from './new-idempotency-key.ts'
import { isOutage } from './outage.ts'

/** How an act tells that it is done. */
export interface ActOptions<Input, Output> {
  /** The sentence of the toast after success; none if the page shows the result itself. */
  says?: string | ((output: Output, input: Input) => string)
  onDone?: (output: Output, input: Input) => void
  /** True if the caller shows errors beside its fields; otherwise a toast shows them. */
  showsErrors?: boolean
  /** True if the page is left afterwards, so that nothing it shows is read again: a used link would be refused. */
  leaves?: boolean
}

/** What became of an act; `unknown` if its answer was lost. */
type Outcome = 'done' | 'refused' | 'unknown'

/** What was typed, with its idempotency key: the same until it is known what became of the act. */
export interface Sendable {
  /** The act begins, under the key that is returned. */
  begin(): string
  end(outcome: Outcome): void
}

/** How long a call counts as a retry of one whose answer was lost, once its form was left. Later, the same words are a new act. */
export const RETRIED_WITHIN_MS = 10 * 60_000

/** Something that a person does: one call at a time. */
export interface Act<Input, Output> {
  /** Sends the input, unless a call is under way. `draft` is what the person typed, which goes once it is sent. */
  mutate(input: Input, options?: { draft?: Sendable; onError?: (error: ApiError) => void }): void
  isPending: boolean
  isSuccess: boolean
  error: ApiError | null
  data: Output | undefined
}

/** The answers of the server that leave open whether the act was carried out. */
const UNSETTLED_CODES = ['still_running', 'internal_error', 'unexplained']
/** The answer to a retry of an act that is done, but whose first answer the server could not keep. */
const DONE_BEFORE_CODE = 'answer_lost'

/** Sends what a person does. A second click or Enter while a call is under way does nothing, within one frame, too. */
export function useSending<Input, Output>(
  send: (input: Input, idempotencyKey: string) => Promise<Output>,
  { says, onDone, showsErrors = false, leaves = false }: ActOptions<Input, Output>,
): Act<Input, Output> {
  const queries = useQueryClient()
  // A ref, because a state would let a second event of the same frame pass.
  const isUnderWay = useRef(false)
  const keyOf = useKeyOfInput<Input>()
  const { mutate, isPending, isSuccess, error, data } = useMutation<
    Output,
    ApiError,
    { input: Input; sendable: Sendable; says: ActOptions<Input, Output>['says'] }
  >({
    mutationFn: ({ input, sendable }) => send(input, sendable.begin()),
    meta: { showsErrors },
    onSuccess(output, { input, sendable, says: words }) {
      sendable.end('done')
      if (!leaves) queries.invalidateQueries()
      if (words) showDone(typeof words === 'string' ? words : words(output, input))
      onDone?.(output, input)
    },
    onError(refusal, { sendable }) {
      sendable.end(outcomeOf(refusal))
    },
    onSettled() {
      isUnderWay.current = false
    },
  })
  return {
    mutate(input, { draft, onError } = {}) {
      if (isUnderWay.current) return
      isUnderWay.current = true
      // The words go with the input: by the time of the answer, the page may show something else.
      mutate({ input, sendable: draft ?? keyOf(input), says }, { ...(onError && { onError }) })
    },
    isPending,
    isSuccess,
    error,
    data,
  }
}

function outcomeOf(refusal: ApiError): Outcome {
  if (refusal.code === DONE_BEFORE_CODE) return 'done'
  return isOutage(refusal) || UNSETTLED_CODES.includes(refusal.code) ? 'unknown' : 'refused'
}

/** The key of an act without a draft: the same for the same input, until it is known what became of it. */
function useKeyOfInput<Input>(): (input: Input) => Sendable {
  const kept = useRef<{ input: string; key: string; sentAtMs: number }>(undefined)
  return (input) => ({
    begin() {
      const text = JSON.stringify(input)
      const isRetry = kept.current?.input === text && Date.now() - kept.current.sentAtMs < RETRIED_WITHIN_MS
      const key = isRetry ? kept.current!.key : newIdempotencyKey()
      kept.current = { input: text, key, sentAtMs: Date.now() }
      return key
    },
    end(outcome) {
      if (outcome !== 'unknown') kept.current = undefined
    },
  })
}
