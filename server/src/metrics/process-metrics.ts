import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import { VERDICTS, type Verdict } from '../core/vocabularies.ts'
import { isProbe } from '../http/probes.ts'
import type { Installation } from '../installation/installation.ts'
import { VERSION } from '../version.ts'

const DURATION_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** Registers the metrics of the process: memory, CPU, event loop and garbage collection, and the write backlog. */
export function registerProcessMetrics(registry: Registry, { stores }: Pick<Installation, 'stores'>): void {
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'verdigraph_build_info',
    help: 'Always 1; the labels are the releases of the service and of Node.js.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  }).set({ version: VERSION, node_version: process.version }, 1)
  new Gauge({
    name: 'verdigraph_changes_waiting',
    help: 'Changes that wait for the next group commit.',
    labelNames: ['environment'],
    registers: [registry],
    collect() {
      for (const environment of ENVIRONMENTS) this.set({ environment }, stores[environment].waiting())
    },
  })
}

/** Creates the function that counts the decisions of an environment's API. Verdicts that have not occurred yet are 0, so that rates are right. */
export function createDecisionMeter(registry: Registry): (environment: Environment, verdict: Verdict) => void {
  const decisions = new Counter({
    name: 'verdigraph_decisions_total',
    help: 'Decisions that the API has recorded, by verdict.',
    labelNames: ['environment', 'verdict'],
    registers: [registry],
  })
  for (const environment of ENVIRONMENTS) for (const verdict of VERDICTS) decisions.inc({ environment, verdict }, 0)
  return (environment, verdict) => decisions.inc({ environment, verdict })
}

/** Creates the function that counts and times the answers of an environment's API; a probe that gets 503 is no failed request. */
export function createRequestMeter(registry: Registry): (app: FastifyInstance, environment: Environment) => void {
  const requests = new Counter({
    name: 'verdigraph_http_requests_total',
    help: 'Requests answered by the API.',
    labelNames: ['environment', 'method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'verdigraph_http_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['environment', 'method', 'route'],
    buckets: DURATION_BOUNDS_S,
    registers: [registry],
  })
  return (app, environment) =>
    app.addHook('onResponse', (request, reply, done) => {
      if (isProbe(request)) return done()
      const labels = { environment, method: request.method, route: request.routeOptions.url ?? 'unknown' }
      requests.inc({ ...labels, status: reply.statusCode })
      durations.observe(labels, reply.elapsedTime / 1000)
      done()
    })
}
