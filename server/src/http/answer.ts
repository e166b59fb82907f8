import build from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import type { KeptAnswer } from '../store/idempotency-keys.ts'
import { Failure, fail, failValidation } from './api-error.ts'
import type { AnyEndpoint, AnyReply, Caller, EnvironmentTools, RequestContext } from './define-endpoint.ts'
import { fingerprintOf, readIdempotencyKey } from './idempotency.ts'
import type { Turns } from './turns.ts'
import { compileValidation, type Validate } from './validation.ts'

/** A request that has passed authentication, as the server received it. */
export interface IncomingRequest {
  path: string
  params: Record<string, string>
  query: unknown
  body: unknown
  idempotencyKey: string | string[] | undefined
  caller: Caller
  requestId: string
  now: string
}

/** What goes over the wire; a kept answer is sent again to the byte. */
export interface Answer {
  status: number
  body: string
  replayed: boolean
}

/** Answers requests to one endpoint. */
export type Responder = (request: IncomingRequest) => Promise<Answer | Failure>

/** Other nodes may change an entity between our read and our write; each time we read again, and somebody always gets on. */
const TRIES_MAX = 20

/** Creates the responder of an endpoint: validate, look for a kept answer, handle, commit, and only then reply. */
export function createResponder(
  endpoint: AnyEndpoint,
  {
    tools,
    fingerprintKey,
    turns,
  }: {
    tools: EnvironmentTools
    fingerprintKey: Buffer
    turns: Turns
  },
): Responder {
  const validate = compileRequest(endpoint)
  const serialize = compileReplies(endpoint)
  const route = `${endpoint.method} ${endpoint.path}`

  async function handle(
    request: IncomingRequest,
    key: string | undefined,
    fingerprint: string,
  ): Promise<Answer | Failure> {
    const organizationId = request.caller.organizationId
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const reply: AnyReply | Failure = await endpoint.handle(contextOf(request, tools))
      if (reply instanceof Failure) return reply

      const body = serialize(reply.status, reply.body)
      const idempotencyKey = key !== undefined && {
        org_id: organizationId,
        route,
        key,
        fingerprint,
        status: reply.status,
        body,
        created_at: request.now,
      }
      if (!reply.change && !idempotencyKey) return { status: reply.status, body, replayed: false }

      const { lost } = await tools.store.commit({ ...reply.change, ...(idempotencyKey && { idempotencyKey }) })
      if (!lost) return { status: reply.status, body, replayed: false }
      if (lost === 'idempotency_key') {
        const kept = await tools.store.keptAnswer({ organizationId, route, key: key! })
        if (kept) return repeat(kept, fingerprint)
      }
    }
    return fail('overloaded', { headers: { 'Retry-After': '1' } })
  }

  async function handleOnce(request: IncomingRequest, key: string, fingerprint: string): Promise<Answer | Failure> {
    const kept = await tools.store.keptAnswer({ organizationId: request.caller.organizationId, route, key })
    return kept ? repeat(kept, fingerprint) : handleInTurn(request, key, fingerprint)
  }

  function handleInTurn(
    request: IncomingRequest,
    key: string | undefined,
    fingerprint: string,
  ): Promise<Answer | Failure> {
    const subject = endpoint.takesTurnsOn && request.params[endpoint.takesTurnsOn]
    const work = () => handle(request, key, fingerprint)
    return subject ? turns.take(`subject ${request.caller.organizationId} ${subject}`, work) : work()
  }

  return async (request) => {
    const violations = validate(request)
    if (violations.length > 0) return failValidation(violations)
    if (endpoint.method === 'GET') return handleInTurn(request, undefined, '')

    const key = readIdempotencyKey(request.idempotencyKey, endpoint.idempotency === 'required')
    if (key instanceof Failure) return key
    if (key === undefined) return handleInTurn(request, undefined, '')

    const fingerprint = fingerprintOf(fingerprintKey, {
      method: endpoint.method,
      path: request.path,
      body: request.body,
    })
    return turns.take(`key ${request.caller.organizationId} ${route} ${key}`, () =>
      handleOnce(request, key, fingerprint),
    )
  }
}

function repeat(kept: KeptAnswer, fingerprint: string): Answer | Failure {
  if (kept.fingerprint !== fingerprint) return fail('idempotency_key_reused')
  return { status: kept.status, body: kept.body, replayed: true }
}

function contextOf(
  { params, query, body, caller, requestId, now }: IncomingRequest,
  tools: EnvironmentTools,
): RequestContext {
  return { params, query, body, caller, requestId, now, ...tools }
}

function compileRequest(endpoint: AnyEndpoint): (request: IncomingRequest) => ReturnType<Validate> {
  const validateQuery = endpoint.query && compileValidation(endpoint.query, { pointers: 'query' })
  const validateBody = endpoint.body && compileValidation(endpoint.body, { pointers: 'body' })
  return (request) => {
    if (validateBody && request.body === undefined) return [{ param: '', message: 'A JSON body is required.' }]
    if (!validateBody && request.body !== undefined) return [{ param: '', message: 'This request takes no body.' }]
    return [...(validateQuery?.(request.query) ?? refuseQuery(request.query)), ...(validateBody?.(request.body) ?? [])]
  }
}

function refuseQuery(query: unknown): ReturnType<Validate> {
  return Object.keys(query as object).map((name) => ({
    param: name,
    message: `${name} is not a parameter of this request.`,
  }))
}

/** Replies are written by their schema, so a field that is not declared can never leave the server. */
function compileReplies(endpoint: AnyEndpoint): (status: number, body: unknown) => string {
  const writers = new Map(
    Object.entries(endpoint.succeeds).map(([status, schema]) => [Number(status), build(schema as TSchema)]),
  )
  return (status, body) => writers.get(status)!(body)
}
