import type { FastifyInstance } from 'fastify'

/** Writes one JSON line for every answer: what was asked, by whom, and how it went; never what it said. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      method: request.method,
      // The pattern, not the address: ids are in the audit trail, and an unknown path may hold anything.
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 100) / 100,
      organization_id: request.caller?.organizationId ?? null,
      key_id: request.caller?.keyId ?? null,
    }
    if (reply.statusCode >= 500) request.log.error(line, 'request failed')
    else request.log.info(line, 'request')
    done()
  })
}
