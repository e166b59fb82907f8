import type { KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Environment } from '../config.ts'
import { signatureHeaders } from '../core/webhooks/signature.ts'
import type { LeasedDelivery } from '../store/environment/webhook-dispatch.ts'
import { RefusedAddress } from './refused-address.ts'

/** How much of a response body is recorded, for operators who look for the cause of a failure. */
const RESPONSE_BYTES_MAX = 4_096
const ERROR_CHARACTERS_MAX = 500

/** One request to one receiver. */
export interface OutgoingMessage {
  url: URL
  id: string
  body: string
  /** When the attempt started: the signed timestamp. */
  startedMs: number
  /** The keys that sign now: two during a rotation, otherwise one. */
  signingKeys: readonly KeyObject[]
  /** Called when there is a connection, which may take a while: whether the request may still be sent as it is. */
  maySend: () => boolean
}

/** What all attempts of a dispatcher share. */
export interface AttemptParts {
  agent: Dispatcher
  timeoutMs: number
  userAgent: string
}

/** The receiver's answer, or the reason why there is none; `sent` are the headers of the request, if it was sent. */
export type Answer = { sent?: SentHeaders | undefined } & (
  | { status: number; response: string; retryAfter: string | undefined; error?: undefined }
  | { status?: undefined; error: string }
)

/** The headers of a request that are recorded. The others follow from the event and the time of the attempt. */
export interface SentHeaders {
  signature: string
  userAgent: string
}

/** Returned when nothing was sent, because the webhook endpoint had changed before there was a connection. */
export const WITHDRAWN = Symbol('withdrawn')

/** Makes one attempt. The promise always resolves, at the latest when the timeout is over. */
export function attemptDelivery(
  { agent, timeoutMs, userAgent }: AttemptParts,
  { url, id, body, startedMs, signingKeys, maySend }: OutgoingMessage,
): Promise<Answer | typeof WITHDRAWN> {
  const timestampS = Math.floor(startedMs / 1_000)
  const headers = requestHeaders(userAgent, signatureHeaders({ id, timestampS, body }, signingKeys))
  const sent = { signature: headers['webhook-signature'], userAgent }
  return new Promise((resolve) => {
    const reader = new AnswerReader({ timeoutMs, maySend, resolve, sent })
    try {
      agent.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body }, reader)
    } catch (error) {
      reader.onResponseError(undefined, error as Error)
    }
  })
}

/** All headers of a request that the dispatcher sets. */
export function requestHeaders(userAgent: string, signature: ReturnType<typeof signatureHeaders>) {
  return { 'content-type': 'application/json', 'user-agent': userAgent, ...signature }
}

/**
 * Reads the status and the beginning of the body. It handles undici's events itself, because a readable stream and an
 * abort signal for each attempt cost more than the rest of the attempt. The status alone decides the result: of a body
 * that is long, slow or incomplete, the part that was received is kept.
 */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #resolve: (result: Answer | typeof WITHDRAWN) => void
  readonly #maySend: () => boolean
  readonly #timer: NodeJS.Timeout
  readonly #chunks: Buffer[] = []
  readonly #headers: SentHeaders
  #sent: SentHeaders | undefined
  #controller: Dispatcher.DispatchController | undefined
  #size = 0
  #status: number | undefined
  #retryAfter: string | undefined
  #settled = false

  constructor({
    timeoutMs,
    maySend,
    resolve,
    sent,
  }: {
    timeoutMs: number
    maySend: () => boolean
    resolve: (result: Answer | typeof WITHDRAWN) => void
    sent: SentHeaders
  }) {
    this.#headers = sent
    this.#resolve = resolve
    this.#maySend = maySend
    this.#timer = setTimeout(() => this.#end(`no answer within ${timeoutMs / 1_000} s`), timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // An attempt that timed out before there was a connection must not be sent any more.
    if (!this.#settled && this.#maySend()) {
      this.#sent = this.#headers
      return
    }
    if (!this.#settled) this.#resolve(WITHDRAWN)
    this.#settled = true
    clearTimeout(this.#timer)
    controller.abort(new Error('not sent'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    // undici passes a repeated header as a list, although the type says string.
    this.#retryAfter = [headers['retry-after'] as string | string[] | undefined].flat()[0]
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    // A receiver must not keep the connection busy with an endless body.
    if (this.#size >= RESPONSE_BYTES_MAX) this.#end('')
  }

  onResponseEnd(): void {
    this.#settle('')
  }

  onResponseError(_: unknown, error: Error): void {
    this.#settle(describeError(error))
  }

  /** Settles with the part of the answer that was received, and closes the connection. */
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
    // 1xx is not a final answer (RFC 9110, section 15.2).
    if (status < 200) this.#resolve({ error: error || 'no answer', sent: this.#sent })
    else this.#resolve({ status, response: storable(response), retryAfter: this.#retryAfter, sent: this.#sent })
  }
}

/** Returns the request body of an event. It depends on the event alone, so every attempt sends the same bytes. */
export function messageBody(
  { event_id, type, created_at, data }: Pick<LeasedDelivery, 'event_id' | 'type' | 'created_at' | 'data'>,
  environment: Environment,
): string {
  const head = JSON.stringify({ id: event_id, type, timestamp: created_at, environment })
  return `${head.slice(0, -1)},"data":${data}}`
}

/** Describes why there was no answer, for operators. */
export function describeError(error: Error): string {
  if (error instanceof RefusedAddress) return `not sent: ${error.message}`
  const { code, message } = error as NodeJS.ErrnoException
  return storable([code, message].filter(Boolean).join(': ')).slice(0, ERROR_CHARACTERS_MAX) || 'unknown error'
}

/** Replaces control characters: PostgreSQL cannot store NUL, and the others could control an operator's terminal. */
function storable(text: string): string {
  return text.replace(/(?![\t\n\r])\p{Cc}/gu, '\uFFFD').toWellFormed()
}
