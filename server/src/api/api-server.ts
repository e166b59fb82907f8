import type { KeyObject } from 'node:crypto'
import type { Socket } from 'node:net'
import Fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Environment } from '../config.ts'
import { acceptOnlyJson, jsonOf } from '../http/accept-only-json.ts'
import { type Admission, UNKNOWN_PARTY } from '../http/admission.ts'
import { guardedServer, lacksHost, NO_HOST } from '../http/guarded-server.ts'
import { BODY_BYTES_MAX, BodyFault } from '../http/json-body.ts'
import { KeyedMutex } from '../http/keyed-mutex.ts'
import { addProbes, PROBE_PATHS, type ReadinessProbe } from '../http/probes.ts'
import { RateLimiter } from '../http/rate-limiter.ts'
import { logRequests } from '../http/request-log.ts'
import type { TrustedProxies } from '../http/trusted-proxies.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import { CommitUnknown } from '../store/write-path/group-commit.ts'
import { PolicyNotApproved } from '../underwriting/active-policies.ts'
import { type ErrorCode, Failure, fail, failBody } from './api-error.ts'
import type { Authenticate } from './authenticate.ts'
import type { AnyEndpoint, Caller, EnvironmentTools } from './define-endpoint.ts'
import { underwrite } from './endpoints/underwrite.ts'
import { Responder } from './responder.ts'
import { routes } from './routes.ts'
import { UnreadableDecision } from './unreadable-decision.ts'
import type { UsageMeter } from './usage-meter.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
}

/** What the API server of one environment works with. */
export interface ApiServerParts {
  environment: Environment
  tools: EnvironmentTools
  authenticate: Authenticate
  /** Of the process: shared with its other ports. */
  admission: Admission
  usage: UsageMeter
  fingerprintKey: KeyObject
  openapi: object
  proxies: TrustedProxies
  readiness: ReadinessProbe
  logger: FastifyBaseLogger
  nowMs: () => number
}

/** Marks an answer that was kept under an idempotency key and is repeated. */
const REPLAYED = 'Idempotent-Replayed'

/** Builds the API server of one environment. The caller makes it listen. */
export function buildApiServer(parts: ApiServerParts): FastifyInstance {
  const app = Fastify({
    loggerInstance: parts.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => parts.tools.newId('req'),
    bodyLimit: BODY_BYTES_MAX,
    serverFactory: guardedServer(parts),
    forceCloseConnections: 'idle',
    // Requests on open connections are answered normally during a shutdown.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 255, querystringParser: strictQuery },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, parts.tools.newId('req')),
    frameworkErrors: (_error, request, reply) => send(reply, request, fail('route_not_found')),
  })
  app.decorateRequest('caller', null)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'Request-Id': request.id, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
    if (lacksHost(request.raw)) send(reply, request, fail('malformed_request', { message: NO_HOST }))
    else done()
  })
  logRequests(app)
  countRequests(app, parts.usage)
  acceptOnlyJson(app)
  app.setErrorHandler((error, request, reply) => {
    const failure = translate(error, request)
    // Fastify would close the connection with bytes of the body unread. The kernel then resets it, and a client that reads
    // after it has sent everything never sees the answer. Node discards the rest, for as long as `requestTimeout` allows.
    if (failure.code === 'body_too_large') reply.removeHeader('connection')
    return send(reply, request, failure)
  })
  app.setNotFoundHandler(async (request, reply) => {
    await parts.admission.turn(UNKNOWN_PARTY)
    return send(reply, request, refuseUnrouted(request))
  })

  const limiter = new RateLimiter(parts.tools.rateLimit)
  const mutex = new KeyedMutex()
  for (const endpoint of routes) addRoute(app, endpoint, { ...parts, limiter, mutex })
  // Bytes, not text: a text would be copied for every client that does not read it.
  const openapi = Buffer.from(JSON.stringify(parts.openapi))
  app.get('/openapi.json', async (_request, reply) => {
    await parts.admission.turn(UNKNOWN_PARTY)
    return reply.type('application/json').send(openapi)
  })
  addProbes(app, parts.readiness)
  return app
}

function addRoute(
  app: FastifyInstance,
  endpoint: AnyEndpoint,
  parts: ApiServerParts & { limiter: RateLimiter; mutex: KeyedMutex },
): void {
  const responder = new Responder(endpoint, parts)
  const { admission } = parts
  app.route({
    method: endpoint.method,
    url: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
    // Runs before the body is read, so a request that is not admitted costs no parsing.
    onRequest: (request, reply) => admit(request, reply, endpoint, parts),
    handler: async (request, reply) => {
      const caller = request.caller!
      const answer = await admission.answer(caller.organizationId, async () => {
        const body = jsonOf(request)
        if (body instanceof BodyFault) return failBody(body)
        return responder.respond({
          path: request.url.split('?', 1)[0]!,
          params: replaceMalformedIds(request.params as Record<string, string>),
          query: request.query,
          body: body.value,
          idempotencyKey: request.headers['idempotency-key'],
          caller,
          requestId: request.id,
          now: new Date(parts.nowMs()).toISOString(),
        })
      })
      if (answer === 'refused') throw overloaded()
      if (answer instanceof Failure) return send(reply, request, answer)
      if (answer.replayed) reply.header(REPLAYED, 'true')
      return reply.code(answer.status).type('application/json').send(answer.body)
    },
  })
}

/**
 * Checks load, API key, rate limit and scope, in this order, and waits for the organization's turn; throws the failure of the
 * first that refuses.
 */
async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: AnyEndpoint,
  { authenticate, limiter, nowMs, usage, admission }: ApiServerParts & { limiter: RateLimiter },
): Promise<void> {
  if (admission.isFull) throw overloaded()
  const now = nowMs()
  const key = await authenticate(authorizationsOf(request), now)
  if (key instanceof Failure) {
    await admission.turn(UNKNOWN_PARTY)
    throw key
  }
  request.caller = { organizationId: key.org_id, keyId: key.id }
  usage.noteKeyUse({ ...request.caller, at: new Date(now).toISOString() })

  const { allowed, remaining, resetSeconds, retryAfterSeconds } = limiter.take(request.caller.organizationId)
  reply.headers({ 'RateLimit-Policy': limiter.policy, RateLimit: `"default";r=${remaining};t=${resetSeconds}` })
  if (!allowed) throw fail('rate_limited', { headers: { 'Retry-After': String(retryAfterSeconds) } })
  if (!key.scopes.split(' ').includes(endpoint.scope)) {
    throw fail('insufficient_scope', {
      message: `This API key lacks the scope ${endpoint.scope}. Use a key that has it.`,
    })
  }
  if (!(await admission.start(request.caller.organizationId))) throw overloaded()
}

/** Every `Authorization` header of a request; Node itself keeps only the first, and a proxy may have checked another. */
function authorizationsOf({ raw: { rawHeaders } }: FastifyRequest): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === 'authorization')
}

/** The failure of a request that was not handled at all, so that it is safe to retry. */
function overloaded(): Failure {
  return fail('overloaded', { headers: { 'Retry-After': '1' } })
}

/** Replaces a path parameter that cannot be an id with an id that does not exist, so that both get the same 404. */
function replaceMalformedIds(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, /^\w+$/.test(value) ? value : 'unknown']),
  )
}

function countRequests(app: FastifyInstance, usage: UsageMeter): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { caller, routeOptions } = request
    if (caller) {
      usage.countRequest(caller, reply.statusCode)
      const isDecision = reply.statusCode === 201 && routeOptions.url === underwrite.path
      if (isDecision && !reply.hasHeader(REPLAYED)) usage.noteDecisionTime(caller.organizationId, reply.elapsedTime)
    }
    done()
  })
}

/** Parses whole numbers, and keeps a repeated parameter as an array, which validation refuses. */
function strictQuery(text: string): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    query[name] = name in query ? [query[name], value] : /^\d{1,15}$/.test(value) ? Number(value) : value
  }
  return query
}

/** Tells an unknown path (404) from a known path with another method (405). */
function refuseUnrouted(request: FastifyRequest): Failure {
  const path = request.url.split('?', 1)[0]!
  const methods = routes
    .filter((endpoint) => pathPattern(endpoint.path).test(path))
    .map((endpoint) => endpoint.method as string)
  if (path === '/openapi.json' || PROBE_PATHS.includes(path)) methods.push('GET')
  if (methods.length === 0) return fail('route_not_found')
  return fail('method_not_allowed', {
    headers: { Allow: methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ') },
  })
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}

/** Translates anything thrown into a failure for the caller; the log gets the cause, the caller does not. */
function translate(error: unknown, request: FastifyRequest): Failure {
  if (error instanceof Failure) return error
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return fail('body_too_large')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return fail('unsupported_media_type')
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return fail('malformed_request', { message: 'The length of the body differs from its Content-Length.' })
  if (error instanceof DatabaseUnavailable) {
    // The health check logs at `error` when the database stops and starts answering, not once for every request.
    request.log.debug({ err: error }, 'database unavailable')
    const code = error instanceof CommitUnknown ? 'effect_unknown' : 'overloaded'
    return fail(code, { headers: { 'Retry-After': '1' } })
  }
  if (statusCode !== undefined && statusCode < 500) return fail('malformed_request')
  if (error instanceof PolicyNotApproved) {
    request.log.error({ err: error, alarm: 'policy_not_approved' }, 'the active policy is not the approved one')
    return fail('internal_error', { message: error.message })
  }
  if (error instanceof UnreadableDecision) {
    request.log.error({ err: error, alarm: 'decision_unreadable' }, 'a stored decision cannot be read')
    return fail('decision_not_found', { message: error.message })
  }
  request.log.error({ err: error }, 'unexpected error in a request')
  return fail('internal_error')
}

/** Answers a request that is not valid HTTP, has too large headers or arrives too slowly, with the usual envelope. */
function refuseUnreadable(error: ConnectionError, socket: Socket, requestId: string): void {
  if (!socket.writable) return
  const [code, reason] = UNREADABLE[error.code] ?? ['malformed_request', 'Bad Request']
  const failure = fail(code)
  const body = JSON.stringify(failure.envelope(requestId))
  const headers = [
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
  ]
  socket.end(`HTTP/1.1 ${failure.status} ${reason}\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
}

const UNREADABLE: Record<string, [code: ErrorCode, reason: string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'Request Timeout'],
}

function send(reply: FastifyReply, request: FastifyRequest, failure: Failure): FastifyReply {
  return reply
    .code(failure.status)
    .headers({ 'Request-Id': request.id, ...failure.details.headers })
    .type('application/json')
    .send(JSON.stringify(failure.envelope(request.id)))
}
