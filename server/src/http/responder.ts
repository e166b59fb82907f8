import type { KeyObject } from 'node:crypto'
import build from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import type { NewRow } from '../store/schema/tables.ts'
import { Failure, fail, failValidation, type Violation } from './api-error.ts'
import type { AnyEndpoint, AnyReply, Caller, EnvironmentTools, RequestContext } from './define-endpoint.ts'
import { fingerprintOf, readIdempotencyKey } from './idempotency.ts'
import type { Turns } from './turns.ts'
import { compileValidation } from './validation.ts'

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

/** Others may change an entity between our read and our write; each time we read again, and somebody always gets on. */
const TRY_FOR_MS = 5_000
const PAUSE_MAX_MS = 20

/** What responders share. */
export interface ResponderParts {
  tools: EnvironmentTools
  fingerprintKey: KeyObject
  turns: Turns
}

/** Answers requests to one endpoint: validate, look for a kept answer, handle, commit, and only then reply. */
export class Responder {
  readonly #endpoint: AnyEndpoint
  readonly #parts: ResponderParts
  readonly #route: string
  readonly #validate: (request: IncomingRequest) => Violation[]
  readonly #serialize: (status: number, body: unknown) => string

  constructor(endpoint: AnyEndpoint, parts: ResponderParts) {
    this.#endpoint = endpoint
    this.#parts = parts
    this.#route = `${endpoint.method} ${endpoint.path}`
    const { validate, serialize } = compileEndpoint(endpoint)
    this.#validate = validate
    this.#serialize = serialize
  }

  async respond(request: IncomingRequest): Promise<Answer | Failure> {
    const violations = this.#validate(request)
    if (violations.length > 0) return failValidation(violations)
    const { method, idempotency } = this.#endpoint
    if (method === 'GET') return this.#handleInTurn(request)

    const key = readIdempotencyKey(request.idempotencyKey, idempotency === 'required')
    if (key instanceof Failure) return key
    if (key === undefined) return this.#handleInTurn(request)

    const fingerprint = fingerprintOf(this.#parts.fingerprintKey, { method, path: request.path, body: request.body })
    const retry = { organizationId: request.caller.organizationId, route: this.#route, key, fingerprint }
    return this.#parts.turns.take(`key ${retry.organizationId} ${this.#route} ${key}`, () =>
      this.#handleInTurn(request, retry),
    )
  }

  async #handleInTurn(request: IncomingRequest, retry?: Retry): Promise<Answer | Failure> {
    const subjects = this.#endpoint.takesTurnsOn?.(request) ?? []
    const keys = subjects.map((subject) => `subject ${request.caller.organizationId} ${subject}`)
    const { answer, refreshBeforeReply } = await this.#parts.turns.takeAll(keys, () => this.#handle(request, retry))
    if (refreshBeforeReply)
      await this.#parts.tools.refreshBeforeReply(request.caller.organizationId, refreshBeforeReply)
    return answer
  }

  async #handle(request: IncomingRequest, retry: Retry | undefined): Promise<Handled> {
    const { tools } = this.#parts
    for (const deadline = Date.now() + TRY_FOR_MS; Date.now() < deadline; await pause()) {
      // Handling changes nothing before its commit, so it need not wait for the look at what was kept.
      const handling = this.#endpoint.handle(contextOf(request, tools))
      handling.catch(() => {}) // a kept answer is repeated even if handling fails; without one, the failure shows below
      const kept = retry && (await this.#keptAnswer(retry))
      if (kept) return { answer: kept }
      const reply = await handling
      if (reply instanceof Failure) return { answer: reply }

      const answer = { status: reply.status, body: this.#serialize(reply.status, reply.body), replayed: false }
      if (!reply.change && !retry) return { answer }
      const { lost } = await tools.store.commit({
        organizationId: request.caller.organizationId,
        ...reply.change,
        ...(retry && { idempotencyKey: keptRow(retry, answer, request.now) }),
      })
      if (!lost) return { answer, refreshBeforeReply: reply.refreshBeforeReply }
    }
    return { answer: fail('overloaded', { headers: { 'Retry-After': '1' } }) }
  }

  async #keptAnswer(retry: Retry): Promise<Answer | Failure | undefined> {
    const kept = await this.#parts.tools.store.keptAnswer(retry)
    if (!kept) return undefined
    if (kept.fingerprint !== retry.fingerprint) return fail('idempotency_key_reused')
    return { status: kept.status, body: kept.body, replayed: true }
  }
}

/** Those who lost to each other come back at different moments. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MAX_MS))
}

/** The answer to a request, and what is to have followed before it is given, though the next in turn need not wait for that. */
interface Handled {
  answer: Answer | Failure
  refreshBeforeReply?: AnyReply['refreshBeforeReply'] | undefined
}

/** What makes two requests the same one: the key under which the first was answered, and what it said. */
interface Retry {
  organizationId: string
  route: string
  key: string
  fingerprint: string
}

function keptRow(
  { route, key, fingerprint }: Retry,
  { status, body }: Answer,
  now: string,
): NewRow<'idempotency_keys'> {
  return { route, key, fingerprint, status, body, created_at: now }
}

function contextOf(
  { params, query, body, caller, requestId, now }: IncomingRequest,
  tools: EnvironmentTools,
): RequestContext {
  return { params, query, body, caller, requestId, now, ...tools }
}

interface CompiledEndpoint {
  validate(request: IncomingRequest): Violation[]
  serialize(status: number, body: unknown): string
}

const compiledEndpoints = new WeakMap<AnyEndpoint, CompiledEndpoint>()

/** Prepares an endpoint, once: both environments have the same endpoints. */
function compileEndpoint(endpoint: AnyEndpoint): CompiledEndpoint {
  const known = compiledEndpoints.get(endpoint)
  if (known) return known
  const made = { validate: compileRequest(endpoint), serialize: compileReplies(endpoint) }
  compiledEndpoints.set(endpoint, made)
  return made
}

function compileRequest(endpoint: AnyEndpoint): (request: IncomingRequest) => Violation[] {
  const validateQuery = endpoint.query && compileValidation(endpoint.query, { pointers: 'query' })
  const validateBody = endpoint.body && compileValidation(endpoint.body, { pointers: 'body' })
  return (request) => {
    if (validateBody && request.body === undefined) return [{ param: '', message: 'A JSON body is required.' }]
    if (!validateBody && !isNothing(request.body)) return [{ param: '', message: 'This request takes no body.' }]
    return [...(validateQuery?.(request.query) ?? refuseQuery(request.query)), ...(validateBody?.(request.body) ?? [])]
  }
}

/** `{}` says as little as no body at all, and some clients cannot send less. */
function isNothing(body: unknown): boolean {
  return (
    body === undefined ||
    (typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0)
  )
}

function refuseQuery(query: unknown): Violation[] {
  return Object.keys(query as object).map((name) => ({
    param: name,
    message: `${name} is not a parameter of this request.`,
  }))
}

/** Replies are written by their schema, so a field that is not declared can never leave the server. */
function compileReplies(endpoint: AnyEndpoint): (status: number, body: unknown) => string {
  const writers = new Map(
    Object.entries(endpoint.succeeds).map(([status, schema]) => [
      Number(status),
      build(schema as TSchema, { ajv: { validateFormats: false } }),
    ]),
  )
  return (status, body) => writers.get(status)!(body)
}
