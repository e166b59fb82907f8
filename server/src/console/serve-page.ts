import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import type { Asset } from './built-page.ts'
import type { PageSource, PageState } from './page-source.ts'
import { waitingPage } from './waiting-page.ts'

/** The text in `index.html` that stands for the nonce; vite.config.ts of the page writes it there. */
const NONCE_PLACEHOLDER = 'NONCE-OF-THIS-REQUEST'
const A_YEAR = 'public, max-age=31536000, immutable'
const A_DAY = 'public, max-age=86400'
const ASK_AGAIN_AFTER_SECONDS = 2

/** The part of the console port that serves the page. */
export interface PageServer {
  /** Looks for the page, and builds it if its sources have changed. */
  start(): void
  close(): Promise<void>
}

/**
 * Serves the page under every path that nothing else answers, because the page's own router knows its paths.
 *
 * It is written by hand rather than with @fastify/static and @fastify/helmet: those have to be registered before the
 * server listens, when the page may not be built yet, and loading them takes as long as loading Fastify itself.
 */
export function addPage(
  app: FastifyInstance,
  { config, ...options }: { config: Config; logger: FastifyBaseLogger; builds: boolean; folder?: string },
): PageServer {
  let loading: Promise<PageSource> | undefined
  const source = () => {
    loading ??= import('./page-source.ts').then(({ PageSource }) => new PageSource(options))
    return loading
  }
  app.setNotFoundHandler(async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return reply.code(404).send({ error: 'There is nothing at this path.' })
    return answer({ request, reply, config, state: await (await source()).state() })
  })
  return {
    start: () => void source().then((page) => page.state()),
    close: async () => (await loading)?.close(),
  }
}

interface PageRequest {
  request: FastifyRequest
  reply: FastifyReply
  config: Config
  state: PageState
}

function answer({ request, reply, config, state }: PageRequest): FastifyReply {
  const path = request.url.split('?')[0]!
  const nonce = randomBytes(16).toString('base64')
  if (state.is !== 'ready') {
    reply.headers(documentHeaders(nonce, config)).code(503)
    if (state.is === 'building') reply.header('Retry-After', String(ASK_AGAIN_AFTER_SECONDS))
    const why = state.is === 'unavailable' ? state.why : undefined
    return reply.send(waitingPage(config, { nonce, why, askAgainAfterSeconds: ASK_AGAIN_AFTER_SECONDS }))
  }
  const asset = state.page.asset(path)
  if (asset) return sendAsset(request, reply, asset)
  // A missing script must not arrive as a document, which the browser would try to run.
  if (path.startsWith('/assets/')) return reply.code(404).type('text/plain').send('This file is not part of the page.')
  return reply.headers(documentHeaders(nonce, config)).send(state.page.html.replaceAll(NONCE_PLACEHOLDER, nonce))
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const isGzipped = asset.gzipped !== undefined && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  return reply
    .headers({
      'Cache-Control': asset.isImmutable ? A_YEAR : A_DAY,
      'Content-Type': asset.type,
      'Cross-Origin-Resource-Policy': 'same-origin',
      Vary: 'Accept-Encoding',
      ...(isGzipped && { 'Content-Encoding': 'gzip' }),
    })
    .send(isGzipped ? asset.gzipped : asset.content)
}

/**
 * The headers of a document. Scripts and styles come from this server or carry the nonce; Mantine adds its styles with
 * it. The page is told its referrer, because browsers send `Origin: null` with `no-referrer`.
 */
function documentHeaders(nonce: string, { baseUrls }: Config): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
    ...(baseUrls.console.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
}
