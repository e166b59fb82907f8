import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Registry } from 'prom-client'
import type { Config } from '../config.ts'
import { startPage } from './start-page.ts'

/** What the server of the console port works with. */
export interface ConsoleServerParts {
  config: Config
  logger: FastifyBaseLogger
  metrics: Registry
  /** Why the databases cannot serve requests; undefined if they can. */
  findProblem: () => Promise<string | undefined>
}

/** How long the databases may take before `/readyz` answers 503. */
const READY_WITHIN_MS = 2_000

/** Builds the server of the console port: the start page, `/healthz`, `/readyz`, and `/metrics` for Prometheus. */
export function buildConsoleServer({ config, logger, metrics, findProblem }: ConsoleServerParts): FastifyInstance {
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
    const problem = await Promise.race([findProblem(), unreachableAfter(READY_WITHIN_MS)])
    return reply.code(problem ? 503 : 200).send({ status: problem ?? 'ready' })
  })
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()))
  return app
}

function unreachableAfter(ms: number): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve('database_unreachable'), ms).unref())
}
