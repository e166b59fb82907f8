import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Installation } from '../service/installation.ts'
import type { Metrics } from './metrics.ts'

const DURATION_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** Adds the figures of the process itself. */
export function describeProcess(metrics: Metrics, { stores }: Pick<Installation, 'stores'>): Metrics {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  metrics.gauge('verdigraph_memory_bytes', 'Memory of the process.', () =>
    Object.entries(process.memoryUsage()).map(([kind, value]) => ({ labels: { kind }, value })),
  )
  metrics.gauge('verdigraph_event_loop_delay_seconds', 'Delay of the event loop since the start.', () =>
    [50, 99].map((percentile) => ({
      labels: { quantile: String(percentile / 100) },
      value: delay.percentile(percentile) / 1e9,
    })),
  )
  metrics.gauge('verdigraph_changes_waiting', 'Changes that wait for the next group commit.', () =>
    ENVIRONMENTS.map((environment) => ({ labels: { environment }, value: stores[environment].waiting() })),
  )
  return metrics
}

/** Creates the function that counts and times the answers of an environment's API. */
export function createRequestMeter(metrics: Metrics): (app: FastifyInstance, environment: Environment) => void {
  const requests = metrics.counter('verdigraph_http_requests_total', 'Requests answered by the API.')
  const durations = metrics.histogram(
    'verdigraph_http_request_duration_seconds',
    'Time from a request to its answer.',
    DURATION_BOUNDS,
  )
  return (app, environment) =>
    app.addHook('onResponse', (request, reply, done) => {
      const labels = { environment, method: request.method, route: request.routeOptions.url ?? 'unknown' }
      requests.increment({ ...labels, status: String(reply.statusCode) })
      durations.observe(labels, reply.elapsedTime / 1000)
      done()
    })
}
