import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Where supervisors and load balancers ask, on every port and without a key; no part of the contract of the API. */
export const PROBE_PATHS: readonly string[] = ['/healthz', '/readyz']

/** What `/readyz` answers with. */
export interface ReadinessProbe {
  /** `ready`, or why this node should get no requests. */
  status(): Promise<string>
  /** What an operator has to look at, although the node serves requests. */
  warnings(): string[]
}

/** Adds `/healthz`, which answers while the process does, and `/readyz`, which answers 503 if the node cannot serve requests. */
export function addProbes(app: FastifyInstance, readiness: ReadinessProbe): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const status = await readiness.status()
    const warnings = readiness.warnings()
    return reply.code(status === 'ready' ? 200 : 503).send({ status, ...(warnings.length > 0 && { warnings }) })
  })
}

/** Whether a request is for one of the probes, which come every few seconds and are neither logged nor counted. */
export function isProbe({ routeOptions: { url } }: FastifyRequest): boolean {
  return url !== undefined && PROBE_PATHS.includes(url)
}
