import cookies from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptOnlyJson, jsonOf } from '../http/accept-only-json.ts'
import { type Admission, UNKNOWN_PARTY } from '../http/admission.ts'
import { readIdempotencyKey } from '../http/idempotency.ts'
import { BodyFault, findFault } from '../http/json-body.ts'
import type { TrustedProxies } from '../http/trusted-proxies.ts'
import type { Installation } from '../installation/installation.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import { PoolBusy } from '../threads/thread-pool.ts'
import { DeviceCookie } from './device-cookie.ts'
import type { OperationPath } from './operation-call.ts'
import type { Admitted, OperationResponder } from './operation-responder.ts'
import { isSameOrigin } from './same-origin.ts'
import { SessionCookie } from './session-cookie.ts'
import { userAgentOf } from './user-agent-of.ts'

declare module 'fastify' {
  interface FastifyRequest {
    admitted: Admitted | null
  }
}

/** People who sign in, or change their own account, send little. */
const PERSON_BODY_BYTES_MAX = 65_536
/** Operators send whole policies, of at most 262,144 characters. */
const OPERATOR_BODY_BYTES_MAX = 524_288

/** Why a request was refused before its operation was looked at, or although its operation was right. */
interface Refused {
  status: number
  code: string
  message: string
  /** When to try again, in seconds. */
  retryAfterS?: number
}

/**
 * Loads the operations. They are not imported with the server, because no start waits for them; the service loads them
 * soon after its start.
 */
export const loadOperations = () => import('./operation-responder.ts')

/** What answers calls of operations. */
interface ApiParts {
  installation: Installation
  admission: Admission
  proxies: TrustedProxies
}

/** The two steps of a call: `admit` before its body is read, so that one without a session costs no reading, and `respond`. */
function operationCalls({ installation, admission, proxies }: ApiParts) {
  const cookie = new SessionCookie(installation.config.baseUrls.console)
  const deviceCookie = new DeviceCookie(installation.config.baseUrls.console)
  let responder: OperationResponder | undefined
  const admit = async (request: FastifyRequest, reply: FastifyReply, path: OperationPath) => {
    const fault = findFault(path)
    if (fault) return refuse(reply, request, { status: 400, code: 'malformed', message: fault.message })
    if (admission.isFull) return refuse(reply, request, OVERLOADED)
    responder ??= new (await loadOperations()).OperationResponder(installation)
    const admitted = await responder.admit({ path, token: cookie.read(request) })
    if ('refused' in admitted) {
      await admission.turn(UNKNOWN_PARTY)
      return refuse(reply, request, admitted.refused)
    }
    if (!(await admission.start(admitted.party))) return refuse(reply, request, OVERLOADED)
    request.admitted = admitted
  }
  const respond = async (request: FastifyRequest, reply: FastifyReply) => {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key'])
    if (idempotencyKey === false) return refuse(reply, request, WRONG_KEY)
    const admitted = request.admitted!
    const answer = await admission.answer(admitted.party, async () => {
      const body = jsonOf(request)
      if (body instanceof BodyFault) throw body
      return responder!.respond(admitted, {
        input: body.value,
        idempotencyKey,
        deviceCookie: deviceCookie.read(request),
        requestId: request.id,
        origin: request.headers.origin!,
        signal: untilClosed(reply),
        turn: () => admission.turn(admitted.party),
        client: {
          address: proxies.clientOf(request.raw),
          userAgent: userAgentOf(request),
        },
      })
    })
    if (answer === 'refused') return refuse(reply, request, OVERLOADED)
    if (answer.newToken !== undefined) cookie.write(reply, answer.newToken)
    if (answer.newDevice !== undefined) deviceCookie.write(reply, answer.newDevice)
    if ('refused' in answer) return refuse(reply, request, answer.refused)
    return reply.type('application/json').send(JSON.stringify(answer.output))
  }
  return { admit, respond }
}

/** Adds the HTTP of the operations to the server of the console port, all of it under `/api`. */
export function addOperationApi(app: FastifyInstance, parts: ApiParts): void {
  const { admit, respond } = operationCalls(parts)
  const { config } = parts.installation
  type Params = Record<'name' | 'organization' | 'environment', string>
  const addRoute = (api: FastifyInstance, url: string, bodyLimit: number, pathOf: (params: Params) => OperationPath) =>
    api.post<{ Params: Params }>(
      url,
      { bodyLimit, onRequest: (request, reply) => admit(request, reply, pathOf(request.params)) },
      respond,
    )
  app.register(
    async (api) => {
      api.addHook('onRequest', async (request, reply) => {
        reply.header('Request-Id', request.id)
        const place = { baseUrl: config.baseUrls.console, localPort: request.socket.localPort }
        if (!isSameOrigin(request.headers, place)) return refuse(reply, request, CROSS_SITE)
      })
      api.decorateRequest('admitted', null)
      // JSON only, because a form of another site cannot send it.
      acceptOnlyJson(api)
      api.register(cookies)
      api.setErrorHandler((error, request, reply) => refuse(reply, request, translate(error, request)))
      api.setNotFoundHandler((request, reply) => refuse(reply, request, NO_OPERATION))
      addRoute(api, '/open/:name', PERSON_BODY_BYTES_MAX, ({ name }) => ({ access: 'open', name }))
      addRoute(api, '/account/:name', PERSON_BODY_BYTES_MAX, ({ name }) => ({ access: 'account', name }))
      addRoute(api, '/:organization/:environment/:name', OPERATOR_BODY_BYTES_MAX, (params) => ({
        access: 'operator',
        ...params,
      }))
    },
    { prefix: '/api' },
  )
}

const NO_OPERATION: Refused = { status: 404, code: 'not_found', message: 'There is no such operation.' }
const WRONG_KEY: Refused = {
  status: 400,
  code: 'idempotency_key_invalid',
  message: 'The Idempotency-Key header must be 1 to 255 printable ASCII characters.',
}
const OVERLOADED: Refused = {
  status: 503,
  code: 'overloaded',
  message: 'The service has more to do than it can answer in time. Try again in a moment.',
}
const CROSS_SITE: Refused = {
  status: 403,
  code: 'cross_site',
  message: 'This request did not come from the console. Open the console at the address that CONSOLE_BASE_URL names.',
}

/** A signal that is aborted when the connection of a request closes before its answer is sent. */
function untilClosed({ raw }: FastifyReply): AbortSignal {
  const client = new AbortController()
  if (raw.destroyed) client.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) client.abort()
  })
  return client.signal
}

function refuse(reply: FastifyReply, request: FastifyRequest, refused: Refused): FastifyReply {
  const { status, code, message, retryAfterS = status === 503 ? 1 : undefined } = refused
  if (retryAfterS !== undefined) reply.header('Retry-After', String(retryAfterS))
  return reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ error: { message, code, request_id: request.id } }))
}

/** Translates anything thrown into a refusal; the log gets the cause, the page does not. */
function translate(error: unknown, request: FastifyRequest): Refused {
  if (error instanceof BodyFault) return { status: 400, code: 'malformed', message: error.message }
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return { status: 413, code: 'too_large', message: 'This is more than the console accepts at once.' }
  if (statusCode !== undefined && statusCode < 500)
    return { status: 400, code: 'malformed', message: 'The request is not JSON.' }
  if (error instanceof PoolBusy)
    return { status: 429, code: 'busy', message: error.message, retryAfterS: error.retryAfterS }
  // The client ended its own work by leaving, and reads no answer.
  if ((error as Error).name === 'AbortError' && request.socket.destroyed)
    return { status: 400, code: 'client_left', message: 'The client has left.' }
  if (error instanceof DatabaseUnavailable) {
    // The health check logs when the database stops and starts answering, not once for every request.
    request.log.debug({ err: error }, 'database unavailable')
    return {
      status: 503,
      code: 'database_unavailable',
      message: 'The database does not answer. Try again in a moment.',
    }
  }
  request.log.error({ err: error, request_id: request.id }, 'unexpected error in an operation of the console')
  return { status: 500, code: 'internal_error', message: 'Something in the service failed. Its log has the cause.' }
}
