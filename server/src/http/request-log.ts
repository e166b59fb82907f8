import type { FastifyInstance } from 'fastify'

/** Logs one JSON line per answered request: route, caller, status and duration, never its path or its body. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      method: request.method,
      // The pattern, not the path: ids are in the audit trail, and an unknown path may contain anything.
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
