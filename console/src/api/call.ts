import type { Environment } from '../../../server/src/core/vocabularies.ts'
import { ApiError } from './api-error.ts'
import type { AccountName, InputOf, OpenName, OperationName, OutputOf, PlaceName } from './operation-types.ts'
import { isOutage, outageWatch } from './outage.ts'

/** The organization and the environment that the URL names. */
export interface Place {
  organizationId: string
  environment: Environment
}

/** What a call carries besides its input. */
export interface CallOptions {
  /** Aborted when the page no longer waits for the answer; the server then ends the work for it. */
  signal?: AbortSignal | undefined
  /** Two calls with the same key and input are one act and its retry. */
  idempotencyKey?: string | undefined
}

/** Calls an operation that needs no session, such as signing in. */
export function callOpen<N extends OpenName>(name: N, input: InputOf<N>): Promise<OutputOf<N>> {
  return send(`/api/open/${name}`, input)
}

/** Calls an operation on the caller's own account. */
export function callAccount<N extends AccountName>(
  name: N,
  input: InputOf<N>,
  options?: CallOptions,
): Promise<OutputOf<N>> {
  return send(`/api/account/${name}`, input, options)
}

/** Calls an operation within an organization and environment. */
export function call<N extends PlaceName>(
  place: Place,
  name: N,
  input: InputOf<N>,
  options?: CallOptions,
): Promise<OutputOf<N>> {
  return send(`/api/${place.organizationId}/${place.environment}/${name}`, input, options)
}

async function send<N extends OperationName>(
  path: string,
  input: InputOf<N>,
  options: CallOptions = {},
): Promise<OutputOf<N>> {
  try {
    const output = await ask<N>(path, input, options)
    outageWatch.answered()
    return output
  } catch (error) {
    if (error instanceof ApiError && !isOutage(error)) outageWatch.answered()
    throw error
  }
}

async function ask<N extends OperationName>(
  path: string,
  input: InputOf<N>,
  { signal, idempotencyKey }: CallOptions,
): Promise<OutputOf<N>> {
  let response: Response
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      },
      body: JSON.stringify(input),
      signal: AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), ...(signal ? [signal] : [])]),
    })
  } catch {
    signal?.throwIfAborted()
    throw new ApiError(NO_ANSWER, { code: 'unreachable', status: 0 })
  }
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok && answer !== undefined) return answer as OutputOf<N>
  signal?.throwIfAborted()
  // The connection was cut within the answer.
  if (response.ok) throw new ApiError(NO_ANSWER, { code: 'unreachable', status: 0 })
  throw refusalOf(response, answer)
}

/** A server that is silent for so long counts as away. No operation takes as long. */
const ANSWER_WITHIN_MS = 60_000
const NO_ANSWER = 'The server does not answer. Check that it is running, then try again.'

function refusalOf(response: Response, answer: unknown): ApiError {
  const { message, code, request_id } = (answer as { error?: Record<string, string> } | undefined)?.error ?? {}
  const requestId = request_id ?? response.headers.get('Request-Id') ?? undefined
  return new ApiError(message ?? `The server answered ${response.status} without saying why.`, {
    code: code ?? 'unexplained',
    status: response.status,
    ...(requestId && { requestId }),
  })
}
