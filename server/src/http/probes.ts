import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Where supervisors and load balancers ask, on every port and without a key; no part of the contract of the API. */
export const PROBE_PATHS: readonly string[] = ['/healthz', '/readyz']

/** What `/readyz` answers with: `ready`, or why this node should get no requests. */
export interface ReadinessProbe {
  status(): Promise<string>
}

/** Adds `/healthz`, which answers while the process does, and `/readyz`, which answers 503 if the node cannot serve requests. */
export function addProbes(app: FastifyInstance, readiness: ReadinessProbe): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const status = await readiness.status()
    return reply.code(status === 'ready' ? 200 : 503).send({ status })
  })
}

/** Whether a request is for one of the probes, which come every few seconds and are neither logged nor counted. */
export function isProbe({ routeOptions: { url } }: FastifyRequest): boolean {
  return url !== undefined && PROBE_PATHS.includes(url)
}
