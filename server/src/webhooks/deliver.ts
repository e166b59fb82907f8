import { type Dispatcher, request } from 'undici'
import type { Environment } from '../config.ts'
import { signatureHeaders } from '../core/webhooks/signature.ts'
import type { LeasedDelivery } from '../store/webhook-dispatch.ts'
import { RefusedAddress } from './safe-agent.ts'

/** How much of an answer is kept, for people who look for what went wrong. */
const RESPONSE_BYTES_MAX = 4_096
const ERROR_CHARACTERS_MAX = 500

/** One message to one receiver. */
export interface OutgoingMessage {
  url: URL
  id: string
  body: string
  /** Every key that is good at this moment. */
  signingKeys: readonly Uint8Array[]
}

/** What an attempt goes out with. */
export interface AttemptParts {
  agent: Dispatcher
  timeoutMs: number
  nowMs: () => number
  userAgent: string
}

/** How an attempt went: an answer, or the reason why there is none. */
export type AttemptResult =
  | { status: number; response: string; retryAfter: string | undefined; error?: undefined }
  | { status?: undefined; error: string }

/** Makes one attempt. It always comes to a result, at the latest when its time is up. */
export async function attemptDelivery(
  { agent, timeoutMs, nowMs, userAgent }: AttemptParts,
  { url, id, body, signingKeys }: OutgoingMessage,
): Promise<AttemptResult> {
  const signature = signatureHeaders({ id, timestampS: Math.floor(nowMs() / 1_000), body }, signingKeys)
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...signature },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const retryAfter = answer.headers['retry-after']
    return {
      status: answer.statusCode,
      response: await readBeginning(answer.body),
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    }
  } catch (error) {
    return { error: describeError(error, timeoutMs) }
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

/** The status has decided already; a body that is long or breaks off is kept as far as it came. */
async function readBeginning(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      // Leaving the loop closes the connection, so that no receiver can keep us reading.
      if (size >= RESPONSE_BYTES_MAX) break
    }
  } catch {
    // What came before is kept.
  }
  return storable(Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX).toString('utf8'))
}

function describeError(error: unknown, timeoutMs: number): string {
  if (error instanceof RefusedAddress) return `not sent: ${error.message}`
  const { name, code, message } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || /TIMEOUT$/.test(code ?? '')) return `no answer within ${timeoutMs / 1_000} s`
  return storable([code, message].filter(Boolean).join(': ')).slice(0, ERROR_CHARACTERS_MAX) || 'unknown error'
}

/** PostgreSQL cannot keep NUL characters, and a receiver may send anything. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
