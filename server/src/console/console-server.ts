import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Config } from '../config.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { startPage } from './start-page.ts'

/** What the console port is made of. */
export interface ConsoleServerParts {
  config: Config
  logger: FastifyBaseLogger
  metrics: Metrics
  /** Resolves when the databases answer. */
  ready: () => Promise<unknown>
}

/** How long the databases may take to say that they are there. */
const READY_WITHIN_MS = 2_000

/** Builds the operators' side of the service: the start page, and what probes and Prometheus ask for. */
export function buildConsoleServer({ config, logger, metrics, ready }: ConsoleServerParts): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    })
  })
  app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(startPage(config)))
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const answered = await Promise.race([
      ready().then(
        () => true,
        () => false,
      ),
      after(READY_WITHIN_MS),
    ])
    return reply.code(answered ? 200 : 503).send({ status: answered ? 'ready' : 'database_unreachable' })
  })
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.text()),
  )
  return app
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref())
}
