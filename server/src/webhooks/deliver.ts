import type { KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Environment } from '../config.ts'
import { signatureHeaders } from '../core/webhooks/signature.ts'
import type { LeasedDelivery } from '../store/queries/webhook-dispatch.ts'
import { RefusedAddress } from './refused-address.ts'

/** How much of an answer is kept, for people who look for what went wrong. */
const RESPONSE_BYTES_MAX = 4_096
const ERROR_CHARACTERS_MAX = 500

/** One message to one receiver. */
export interface OutgoingMessage {
  url: URL
  id: string
  body: string
  /** Every key that is good at this moment. */
  signingKeys: readonly KeyObject[]
  /** Asked when there is a connection, which may take a while: whether it may still go out as it is. */
  mayGo: () => boolean
}

/** What an attempt goes out with. */
export interface AttemptParts {
  agent: Dispatcher
  timeoutMs: number
  nowMs: () => number
  userAgent: string
}

/** The receiver's answer, or the reason why there is none. */
export type Answer =
  | { status: number; response: string; retryAfter: string | undefined; error?: undefined }
  | { status?: undefined; error: string }

/** What came instead of an attempt: nothing went out, because the message was no longer the right one. */
export const WITHDRAWN = Symbol('withdrawn')

/** Makes one attempt. It always comes to a result, at the latest when its time is up. */
export function attemptDelivery(
  { agent, timeoutMs, nowMs, userAgent }: AttemptParts,
  { url, id, body, signingKeys, mayGo }: OutgoingMessage,
): Promise<Answer | typeof WITHDRAWN> {
  const signature = signatureHeaders({ id, timestampS: Math.floor(nowMs() / 1_000), body }, signingKeys)
  const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...signature }
  return new Promise((resolve) => {
    const reader = new AnswerReader({ timeoutMs, mayGo, resolve })
    try {
      agent.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body }, reader)
    } catch (error) {
      reader.onResponseError(undefined, error as Error)
    }
  })
}

/**
 * Reads the status and the beginning of an answer. By hand, because a readable stream and an abort signal for each attempt
 * cost more than the rest of it. The status decides: a body that is long, slow or breaks off is kept as far as it came.
 */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #resolve: (result: Answer | typeof WITHDRAWN) => void
  readonly #mayGo: () => boolean
  readonly #timer: NodeJS.Timeout
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #size = 0
  #status: number | undefined
  #retryAfter: string | undefined
  #settled = false

  constructor({
    timeoutMs,
    mayGo,
    resolve,
  }: {
    timeoutMs: number
    mayGo: () => boolean
    resolve: (result: Answer | typeof WITHDRAWN) => void
  }) {
    this.#resolve = resolve
    this.#mayGo = mayGo
    this.#timer = setTimeout(() => this.#end(`no answer within ${timeoutMs / 1_000} s`), timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // If its time was up before there was a connection, it must not go out any more.
    if (!this.#settled && this.#mayGo()) return
    if (!this.#settled) this.#resolve(WITHDRAWN)
    this.#settled = true
    clearTimeout(this.#timer)
    controller.abort(new Error('not sent'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    // A header that is repeated comes as a list, whatever its type says.
    this.#retryAfter = [headers['retry-after'] as string | string[] | undefined].flat()[0]
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    // No receiver can keep us reading.
    if (this.#size >= RESPONSE_BYTES_MAX) this.#end('')
  }

  onResponseEnd(): void {
    this.#settle('')
  }

  onResponseError(_: unknown, error: Error): void {
    this.#settle(describeError(error))
  }

  /** Settles with what there is, and closes the connection. */
  #end(error: string): void {
    if (this.#settled) return
    this.#settle(error)
    this.#controller?.abort(new Error('enough'))
  }

  #settle(error: string): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    const status = this.#status ?? 0
    const response = Buffer.concat(this.#chunks).subarray(0, RESPONSE_BYTES_MAX).toString('utf8')
    // 1xx is not an answer yet.
    if (status < 200) this.#resolve({ error: error || 'no answer' })
    else this.#resolve({ status, response: storable(response), retryAfter: this.#retryAfter })
  }
}

/** The event as it is sent. It never changes, so every attempt carries the same bytes. */
export function messageBody(
  { event_id, type, created_at, data }: Pick<LeasedDelivery, 'event_id' | 'type' | 'created_at' | 'data'>,
  environment: Environment,
): string {
  const head = JSON.stringify({ id: event_id, type, timestamp: created_at, environment })
  return `${head.slice(0, -1)},"data":${data}}`
}

/** Why there was no answer, for people. */
export function describeError(error: Error): string {
  if (error instanceof RefusedAddress) return `not sent: ${error.message}`
  const { code, message } = error as NodeJS.ErrnoException
  return storable([code, message].filter(Boolean).join(': ')).slice(0, ERROR_CHARACTERS_MAX) || 'unknown error'
}

/** A receiver may send anything: PostgreSQL cannot keep NUL, and other control characters would speak to somebody's terminal. */
function storable(text: string): string {
  return text.replace(/(?![\t\n\r])\p{Cc}/gu, '\uFFFD').toWellFormed()
}
