import cookies from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { forbidden, invalid, notSignedIn, Problem } from '../../admin/problem.ts'
import { networkOf } from '../../http/network-of.ts'
import type { TrustedProxies } from '../../http/trusted-proxies.ts'
import type { Installation } from '../../installation/installation.ts'
import { SecretBox } from '../../security/secret-box.ts'
import { type Attempt, beginAttempt, callbackAttempt, endAttempt } from '../../sign-in/attempts.ts'
import { closeChallenge, useSignOnState } from '../../sign-in/challenges.ts'
import { rememberDevice } from '../../sign-in/known-devices.ts'
import { beginSession, findSession, isSessionValid } from '../../sign-in/sessions.ts'
import { admitIdentity, connectIdentity } from '../../sign-in/single-sign-on.ts'
import { DeviceCookie } from '../device-cookie.ts'
import { refusedFor } from '../refused-for.ts'
import { SessionCookie } from '../session-cookie.ts'
import { userAgentOf } from '../user-agent-of.ts'
import { OidcClient, OidcFailure, type PendingSignIn } from './oidc-client.ts'
import { continuePage, OIDC_PAGE_CSP, refusedPage } from './oidc-page.ts'

/** How long a person may take at the provider. */
const PENDING_SECONDS = 600
/** Callbacks that wait for the provider at the same time, so that forged ones cannot make the service flood it. */
const EXCHANGES_MAX = 20
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/** What the cookie holds while a person is at the provider, encrypted. */
interface Pending extends PendingSignIn {
  expiresAtMs: number
  /** The account to connect and the session in which its person asked for it. */
  connect?: { accountId: string; sessionId: string }
}

/**
 * Adds the two addresses of single sign-on: `/api/oidc/start` sends the browser to the provider,
 * `/api/oidc/callback` is where it comes back. Both are pages and not operations: the browser navigates to them.
 */
export async function addOidcRoutes(
  api: FastifyInstance,
  installation: Installation,
  proxies: TrustedProxies,
): Promise<void> {
  const routes = new OidcRoutes(installation, proxies)
  await api.register(cookies)
  api.addHook('onRequest', async (request, reply) => {
    reply.header('Request-Id', request.id)
    reply.header('Content-Security-Policy', OIDC_PAGE_CSP)
  })
  api.setErrorHandler((error, request, reply) => {
    if (error instanceof Problem) {
      const { status, message } = refusedFor(error).refused
      return refuse(reply.code(status), request, message)
    }
    request.log.error({ err: error, request_id: request.id }, 'single sign-on failed')
    const isProviders = error instanceof OidcFailure
    return refuse(reply.code(isProviders ? 502 : 500), request, isProviders ? UNREACHABLE : FAILED)
  })
  api.get('/api/oidc/start', (request, reply) => routes.start(request, reply))
  api.get('/api/oidc/callback', (request, reply) => routes.callback(request, reply))
}

const UNREACHABLE =
  'The identity provider does not answer. Try again in a moment; the log of the service has the cause.'
const FAILED = 'Something in the service failed. Its log has the cause.'
const notConfirmed = () => notSignedIn('sign_on_unconfirmed', 'The identity provider did not confirm this sign-in.')
const notBegunHere = () =>
  invalid('sign_on_invalid', 'This sign-in was not begun in this browser, or it took more than ten minutes.')
const usedAlready = () => invalid('sign_on_invalid', 'This answer of the identity provider was used already.')
const notAskedFor = () => forbidden('not_asked_for', 'Your session has ended, or this took more than ten minutes.')

class OidcRoutes {
  readonly #installation: Installation
  readonly #proxies: TrustedProxies
  readonly #client: OidcClient
  readonly #box: SecretBox
  readonly #session: SessionCookie
  readonly #device: DeviceCookie
  readonly #cookieName: string
  readonly #isSecure: boolean
  #ownPort = ''
  #exchanges = 0

  constructor(installation: Installation, proxies: TrustedProxies) {
    const { config, masterKey, nowMs } = installation
    this.#installation = installation
    this.#proxies = proxies
    this.#isSecure = config.baseUrls.console.startsWith('https:')
    this.#cookieName = this.#isSecure ? '__Host-verdigraph-oidc' : 'verdigraph-oidc'
    this.#session = new SessionCookie(config.baseUrls.console)
    this.#device = new DeviceCookie(config.baseUrls.console)
    this.#box = new SecretBox([masterKey.derive('single sign-on')])
    this.#client = new OidcClient({
      settings: config.oidc!,
      redirectUri: () => `${this.#baseUrl()}/api/oidc/callback`,
      nowMs,
    })
  }

  /**
   * Sends the browser to the provider. With `?connect=<challenge>`, a person who is signed in connects their account;
   * the challenge shows that they gave their password a moment ago.
   */
  async start(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.#ownPort = String(request.socket.localPort)
    const own = new URL(this.#baseUrl())
    // The provider sends the browser back to the name in the settings, where it would not send this cookie otherwise.
    if (LOOPBACK_NAMES.includes(own.hostname) && request.host !== own.host)
      return reply.redirect(`${own.origin}${request.url}`)
    const { connect: challenge } = request.query as { connect?: unknown }
    const connect = challenge === undefined ? undefined : await this.#confirmed(request, String(challenge))
    if (challenge !== undefined && !connect) throw notAskedFor()
    const { url, pending } = await this.#client.begin()
    const kept: Pending = {
      ...pending,
      expiresAtMs: this.#installation.nowMs() + PENDING_SECONDS * 1_000,
      ...(connect && { connect }),
    }
    this.#writeCookie(reply, this.#box.encrypt('pending', JSON.stringify(kept)))
    return reply.redirect(url)
  }

  /** Receives the browser from the provider: signs the person in, or says why not. */
  async callback(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const pending = this.#pending(request)
    // Removed first: a cookie serves one callback, whatever becomes of it.
    this.#writeCookie(reply, null)
    if (!pending) throw notBegunHere()
    const attempt = callbackAttempt(networkOf(this.#proxies.clientOf(request.raw)))
    await beginAttempt(this.#installation, attempt)
    if (!(await useSignOnState(this.#installation, pending))) throw usedAlready()
    if (this.#exchanges >= EXCHANGES_MAX) return refuse(reply.code(503), request, UNREACHABLE)
    this.#exchanges += 1
    try {
      return await this.#admit(request, reply, { pending, attempt })
    } finally {
      this.#exchanges -= 1
    }
  }

  async #admit(
    request: FastifyRequest,
    reply: FastifyReply,
    { pending, attempt }: { pending: Pending; attempt: Attempt },
  ): Promise<FastifyReply> {
    const installation = { ...this.#installation, requestId: request.id }
    const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''
    const identity = await this.#client.finish(query, pending).catch((error: unknown) => {
      if (!(error instanceof OidcFailure)) throw error
      request.log.warn({ err: error.cause ?? error, request_id: request.id }, 'sign-in through the provider refused')
      return undefined
    })
    if (!identity) throw notConfirmed()
    await endAttempt(installation, attempt)
    if (pending.connect) {
      // By its id: the browser does not send the cookie of the session when it comes from another site.
      if (!(await isSessionValid(installation, pending.connect))) throw notAskedFor()
      const { accountId } = pending.connect
      await connectIdentity(installation, { accountId, identity })
      return this.#send(reply, continuePage('/account'))
    }
    const { accountId } = await admitIdentity(installation, identity)
    const token = await beginSession(installation, {
      accountId,
      method: 'oidc',
      client: {
        address: this.#proxies.clientOf(request.raw),
        userAgent: userAgentOf(request),
      },
    })
    this.#session.write(reply, token)
    const cookie = this.#device.read(request)
    this.#device.write(reply, await rememberDevice(installation, { cookie, accountId }))
    return this.#send(reply, continuePage('/'))
  }

  /** The account and session of this browser, if its person confirmed that they connect the account. */
  async #confirmed(request: FastifyRequest, challenge: string): Promise<Pending['connect']> {
    const token = this.#session.read(request)
    const session = token === undefined ? undefined : await findSession(this.#installation, token)
    if (!session) return undefined
    const { account_id: accountId, id: sessionId } = session
    const isConfirmed = await closeChallenge(this.#installation, {
      purpose: 'oidc_connect',
      token: challenge,
      accountId,
    })
    return isConfirmed ? { accountId, sessionId } : undefined
  }

  /** What this browser began; undefined if nothing, if it took too long, or if the cookie was altered. */
  #pending(request: FastifyRequest): Pending | undefined {
    const text = request.cookies[this.#cookieName]
    if (!text) return undefined
    try {
      const pending = JSON.parse(this.#box.decrypt('pending', text)) as Pending
      return pending.expiresAtMs > this.#installation.nowMs() ? pending : undefined
    } catch {
      return undefined
    }
  }

  #writeCookie(reply: FastifyReply, value: string | null): void {
    reply.setCookie(this.#cookieName, value ?? '', {
      httpOnly: true,
      // Lax, because the browser comes back from another site.
      sameSite: 'lax',
      path: '/',
      secure: this.#isSecure,
      maxAge: value === null ? 0 : PENDING_SECONDS,
    })
  }

  /** The address of the console, with the real port where the settings leave it open. */
  #baseUrl(): string {
    return this.#installation.config.baseUrls.console.replace(/:0$/, `:${this.#ownPort}`)
  }

  #send(reply: FastifyReply, html: string): FastifyReply {
    return reply.type('text/html; charset=utf-8').send(html)
  }
}

function refuse(reply: FastifyReply, request: FastifyRequest, problem: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(refusedPage(problem, request.id))
}
