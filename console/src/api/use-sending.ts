import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { showDone } from '../shell/toasts.tsx'
import type { ApiError } from './api-error.ts'
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

/** What was typed, and its idempotency key: the same until it is known whether the act was carried out. */
export interface Sendable {
  idempotencyKey(): string
  /** The server refused: what is sent next is another act. */
  renewKey(): void
  /** The act is done. */
  sent(): void
}

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
    { input: Input; sendable: Sendable }
  >({
    mutationFn: ({ input, sendable }) => send(input, sendable.idempotencyKey()),
    meta: { showsErrors },
    onSuccess(output, { input, sendable }) {
      sendable.sent()
      if (!leaves) queries.invalidateQueries()
      if (says) showDone(typeof says === 'string' ? says : says(output, input))
      onDone?.(output, input)
    },
    onError(refusal, { sendable }) {
      if (!isOutage(refusal) && !UNSETTLED_CODES.includes(refusal.code)) sendable.renewKey()
    },
    onSettled() {
      isUnderWay.current = false
    },
  })
  return {
    mutate(input, { draft, onError } = {}) {
      if (isUnderWay.current) return
      isUnderWay.current = true
      mutate({ input, sendable: draft ?? keyOf(input) }, { ...(onError && { onError }) })
    },
    isPending,
    isSuccess,
    error,
    data,
  }
}

/** The key of an act without a draft: the same for the same input, until it is known whether it was carried out. */
function useKeyOfInput<Input>(): (input: Input) => Sendable {
  const kept = useRef<{ input: string; key: string }>(undefined)
  const forget = () => {
    kept.current = undefined
  }
  return (input) => ({
    idempotencyKey() {
      const text = JSON.stringify(input)
      if (kept.current?.input !== text) kept.current = { input: text, key: newIdempotencyKey() }
      return kept.current.key
    },
    renewKey: forget,
    sent: forget,
  })
}
