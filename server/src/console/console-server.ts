import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Registry } from 'prom-client'
import { type Admission, UNKNOWN_PARTY } from '../http/admission.ts'
import { guardedServer, lacksHost, NO_HOST } from '../http/guarded-server.ts'
import { addProbes, type ReadinessProbe } from '../http/probes.ts'
import { TrustedProxies } from '../http/trusted-proxies.ts'
import type { Installation } from '../installation/installation.ts'
import { MetricsPage } from '../metrics/metrics-page.ts'
import { addOperationApi } from './operation-api.ts'
import { addPage, type PageServer } from './serve-page.ts'

/** What the server of the console port works with. */
export interface ConsoleServerParts {
  installation: Installation
  logger: FastifyBaseLogger
  /** Of the process: shared with its other ports. */
  admission: Admission
  metrics: Registry
  readiness: ReadinessProbe
  /** Whether the page is built if its sources have changed. */
  buildsPage: boolean
}

/** The server of the console port, and the part of it that serves the page. */
export interface ConsoleServer {
  app: FastifyInstance
  page: PageServer
}

/** Builds the server of the console port: the page, `/healthz`, `/readyz`, `/metrics` for Prometheus, and the operations. */
export function buildConsoleServer({
  installation,
  logger,
  admission,
  metrics,
  readiness,
  buildsPage,
}: ConsoleServerParts): ConsoleServer {
  const proxies = new TrustedProxies(installation.config.trustedProxies)
  const app = Fastify({
    loggerInstance: logger,
    serverFactory: guardedServer({ proxies, logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => installation.newId('req'),
    forceCloseConnections: 'idle',
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    })
    if (lacksHost(request.raw)) return reply.code(400).type('text/plain').send(`${NO_HOST}\n`)
    // An operation takes the turns of its organization.
    if (!request.url.startsWith('/api/')) await admission.turn(UNKNOWN_PARTY)
  })
  addOperationApi(app, { installation, admission, proxies })
  // Imported only where it is configured, because a start must not wait for it otherwise.
  if (installation.config.oidc)
    app.register(async (api) => (await import('./oidc/oidc-routes.ts')).addOidcRoutes(api, installation, proxies))
  addProbes(app, readiness)
  const metricsPage = new MetricsPage(metrics)
  app.get('/metrics', async (_request, reply) => reply.type(metricsPage.contentType).send(await metricsPage.read()))
  const page = addPage(app, { config: installation.config, logger, builds: buildsPage })
  return { app, page }
}
