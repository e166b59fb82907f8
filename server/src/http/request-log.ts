import type { FastifyInstance } from 'fastify'
import { isProbe } from './probes.ts'

/** Logs one JSON line per answered request: route, caller, status and duration, never its path or its body. Probes are not logged. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (isProbe(request)) return done()
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
