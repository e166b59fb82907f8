import type { KeyObject } from 'node:crypto'
import build from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import type { Admission } from '../http/admission.ts'
import { compileLater } from '../http/compile-later.ts'
import { fingerprintOf, readIdempotencyKey } from '../http/idempotency.ts'
import { inTurns } from '../http/in-turns.ts'
import type { KeyedMutex } from '../http/keyed-mutex.ts'
import { compileValidation } from '../http/validation.ts'
import type { Violation } from '../http/violation.ts'
import { ANSWERS_KEPT_HOURS, type KeptDecision, keyHashOf } from '../store/environment/idempotency-keys.ts'
import type { NewRow } from '../store/schema/tables.ts'
import { Failure, fail, failValidation } from './api-error.ts'
import type { AnyEndpoint, AnyReply, Caller, EnvironmentTools, RequestContext } from './define-endpoint.ts'
import { UnreadableDecision } from './unreadable-decision.ts'
import type { UsageMeter } from './usage-meter.ts'

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

/** A successful response as it is sent; the body of a kept answer is repeated byte for byte. */
export interface Answer {
  status: number
  body: string
  replayed: boolean
}

/**
 * How long a request retries a lost commit (another writer changed the entity between our read and our write) before it
 * gets 503. A commit is lost only to one that succeeded, so of competing writers one always makes progress; or to a
 * database that gave no answer.
 */
const RETRY_FOR_MS = 5_000
const RETRY_JITTER_MS = 20

/** A retry within this time gets the status of the first answer. */
const ANSWERS_KEPT_MS = ANSWERS_KEPT_HOURS * 3_600_000

/** What all responders of an environment share. */
export interface ResponderParts {
  tools: EnvironmentTools
  admission: Pick<Admission, 'turn'>
  fingerprintKey: KeyObject
  mutex: KeyedMutex
  usage: Pick<UsageMeter, 'countWritten'>
}

/**
 * Answers the requests to one endpoint, in these steps:
 *
 * 1. Validate the query, the body and the idempotency key.
 * 2. Lock the idempotency key, then the subjects of the request (`serializedBy`), on this node.
 * 3. Read the answer kept under the idempotency key, and run the endpoint's handler at the same time. A kept answer is
 *    repeated; that of a decision is made of its stored document. A failure of the handler is returned, but not kept. A reply
 *    without a change waits until what it was read from is durable.
 * 4. Commit the handler's change together with the idempotency key and the answer, or the id of the decision that it is. If another writer was first, nothing
 *    was written: go back to step 3 after a jittered pause, for up to `RETRY_FOR_MS`.
 * 5. Unlock the subjects, so that the next request need not wait for step 6.
 * 6. Refresh the exposures nearest to the change, if the handler named any.
 * 7. Unlock the idempotency key and reply.
 */
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
    if (method === 'GET') return this.#handleLocked(request)

    const key = readIdempotencyKey(request.idempotencyKey)
    if (key === false) return fail('idempotency_key_invalid')
    if (key === undefined)
      return idempotency === 'required' ? fail('idempotency_key_missing') : this.#handleLocked(request)

    const fingerprint = fingerprintOf(this.#parts.fingerprintKey, { method, path: request.path, body: request.body })
    const { organizationId } = request.caller
    const keyed = { organizationId, keyHash: keyHashOf(this.#route, key), fingerprint, now: request.now }
    return this.#parts.mutex.lock(`key ${organizationId} ${this.#route} ${key}`, () =>
      this.#handleLocked(request, keyed),
    )
  }

  async #handleLocked(request: IncomingRequest, keyed?: KeyedRequest): Promise<Answer | Failure> {
    const subjects = this.#endpoint.serializedBy?.(request) ?? []
    const keys = subjects.map((subject) => `subject ${request.caller.organizationId} ${subject}`)
    const { answer, refreshBeforeReply } = await this.#parts.mutex.lockAll(keys, () => this.#handle(request, keyed))
    if (refreshBeforeReply)
      await this.#parts.tools.refreshBeforeReply(request.caller.organizationId, refreshBeforeReply)
    return answer
  }

  async #handle(request: IncomingRequest, keyed: KeyedRequest | undefined): Promise<Handled> {
    const { tools, admission } = this.#parts
    for (const deadline = performance.now() + RETRY_FOR_MS; performance.now() < deadline; await jitter()) {
      // The handler writes nothing, so it runs while the kept answer is read, and is ignored if there is one.
      const handling = this.#run(contextOf(request, tools, admission))
      handling.catch(() => {}) // an error counts only if there is no kept answer; `await handling` throws it then
      const kept = keyed && (await this.#keptAnswer(keyed))
      if (kept) return { answer: kept }
      const reply = await handling
      if (reply instanceof Failure) return { answer: reply }

      const answer = { status: reply.status, body: this.#serialize(reply.status, reply.body), replayed: false }
      if (!reply.change && !keyed) return { answer }
      const { lost } = await tools.store.commit({
        organizationId: request.caller.organizationId,
        ...reply.change,
        ...(keyed && { idempotencyKey: keptRow(keyed, answer, reply.decisionId) }),
      })
      if (lost) continue
      this.#parts.usage.countWritten(request.caller, reply.change?.usage ?? [])
      return { answer, refreshBeforeReply: reply.refreshBeforeReply }
    }
    return { answer: fail('overloaded', { headers: { 'Retry-After': '1' } }) }
  }

  /**
   * Runs the handler. What a writing endpoint answers without a change was written before, and is no answer until it is as durable as
   * what this request would have written: a failover may still take it away.
   */
  async #run(context: RequestContext): Promise<AnyReply | Failure> {
    if (this.#endpoint.method === 'GET') return this.#endpoint.handle(context)
    const { store } = this.#parts.tools
    let changing: AnyReply | Failure | undefined
    const stored = await store.durably(async () => {
      const reply = await this.#endpoint.handle(context)
      changing = reply instanceof Failure || reply.change ? reply : undefined
      return changing ? undefined : reply
    })
    return stored ?? changing!
  }

  async #keptAnswer(keyed: KeyedRequest): Promise<Answer | Failure | undefined> {
    const kept = await this.#parts.tools.store.idempotencyKeys.keptAnswer(keyed)
    if (!kept) return undefined
    if (Buffer.compare(kept.fingerprint, keyed.fingerprint) !== 0) return fail('idempotency_key_reused')
    if ('decisionId' in kept) return this.#repeatDecision(kept, keyed.now)
    return { status: kept.status, body: kept.body, replayed: true }
  }

  /** The answer that a decision was: the same document by the same schema has the same bytes. */
  #repeatDecision({ decisionId, document, created_at }: KeptDecision, now: string): Answer {
    const isLate = Date.parse(now) - Date.parse(created_at) >= ANSWERS_KEPT_MS
    const gone = `This Idempotency-Key made the decision ${decisionId}, which cannot be read any more. Nothing was written. Use a new key for a new decision.`
    if (!document) throw new UnreadableDecision(gone)
    try {
      return { status: isLate ? 200 : 201, body: this.#serialize(201, JSON.parse(document)), replayed: true }
    } catch (cause) {
      throw new UnreadableDecision(gone, { cause })
    }
  }
}

/** Waits for a random time before a lost commit is retried, so that competing writers do not collide again. */
function jitter(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * RETRY_JITTER_MS))
}

/** The answer to a request, and the refresh that has to precede it but runs outside the locks of its subjects. */
interface Handled {
  answer: Answer | Failure
  refreshBeforeReply?: AnyReply['refreshBeforeReply'] | undefined
}

/** A request with an idempotency key; two with the same key and fingerprint are one operation and its retry. */
interface KeyedRequest {
  organizationId: string
  keyHash: Uint8Array
  fingerprint: Uint8Array
  now: string
}

function keptRow(
  { keyHash, fingerprint, now }: KeyedRequest,
  { status, body }: Answer,
  decisionId: string | undefined,
): NewRow<'idempotency_keys'> {
  const kept =
    decisionId === undefined
      ? { decision_id: null, status, body }
      : { decision_id: decisionId, status: null, body: null }
  return { key_hash: keyHash, fingerprint, ...kept, created_at: now }
}

/** What the handler sees; it does what follows a read in another turn. */
function contextOf(
  { params, query, body, caller, requestId, now }: IncomingRequest,
  tools: EnvironmentTools,
  admission: Pick<Admission, 'turn'>,
): RequestContext {
  const turn = () => admission.turn(caller.organizationId)
  const store = inTurns(tools.store, turn)
  const policies = inTurns(tools.policies, turn)
  return { params, query, body, caller, requestId, now, ...tools, store, policies }
}

interface CompiledEndpoint {
  validate(request: IncomingRequest): Violation[]
  serialize(status: number, body: unknown): string
}

const compiledEndpoints = new WeakMap<AnyEndpoint, CompiledEndpoint>()

/** Compiles the schemas of an endpoint once, although both environments serve it. */
function compileEndpoint(endpoint: AnyEndpoint): CompiledEndpoint {
  const cached = compiledEndpoints.get(endpoint)
  if (cached) return cached
  const compiled = { validate: compileRequest(endpoint), serialize: compileReplies(endpoint) }
  compiledEndpoints.set(endpoint, compiled)
  return compiled
}

function compileRequest(endpoint: AnyEndpoint): (request: IncomingRequest) => Violation[] {
  const validateQuery = endpoint.query && compileValidation(endpoint.query, { pointers: 'query' })
  const validateBody = endpoint.body && compileValidation(endpoint.body, { pointers: 'body' })
  return (request) => {
    if (validateBody && request.body === undefined) return [{ param: '', message: 'A JSON body is required.' }]
    if (!validateBody && !isEmpty(request.body)) return [{ param: '', message: 'This request takes no body.' }]
    return [...(validateQuery?.(request.query) ?? refuseQuery(request.query)), ...(validateBody?.(request.body) ?? [])]
  }
}

/** `{}` counts as no body, because some clients cannot send a POST without one. */
function isEmpty(body: unknown): boolean {
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

/** Replies are serialized by their schema, so an undeclared field never leaves the server. */
function compileReplies(endpoint: AnyEndpoint): (status: number, body: unknown) => string {
  const serializers = new Map(
    Object.entries(endpoint.succeeds).map(([status, schema]) => [
      Number(status),
      compileLater(() => build(schema as TSchema, { ajv: { validateFormats: false } })),
    ]),
  )
  return (status, body) => serializers.get(status)!(body)
}
