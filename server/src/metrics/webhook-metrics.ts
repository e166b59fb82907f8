import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Installation } from '../service/installation.ts'
import type { WebhookFigures } from '../store/queries/webhooks.ts'
import type { Dispatcher, DispatcherEvents } from '../webhooks/dispatcher.ts'
import type { Metrics, Reading } from './metrics.ts'

/** Up to the fifteen seconds that an attempt may take. */
const DURATION_BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const OUTCOMES = ['delivered', 'refused', 'gone', 'unanswered'] as const
/** Reading what waits costs more the more of it there is, so whoever asks often gets the same figures again. */
const FIGURES_AGE_MAX_MS = 5_000

/** What counts the work of one environment's dispatcher. */
export type WebhookMeter = Required<Pick<DispatcherEvents, 'onAttempt' | 'onLeasesLost'>> & {
  onDisabled: () => void
  watch: (dispatcher: Dispatcher) => void
}

/** Adds the figures of webhooks, and creates the function that counts the work of an environment's dispatcher. */
export function createWebhookMeter(
  metrics: Metrics,
  { stores, nowMs }: Pick<Installation, 'stores' | 'nowMs'>,
): (environment: Environment) => WebhookMeter {
  const attempts = metrics.counter('verdigraph_webhook_attempts_total', 'Attempts to deliver an event.')
  const durations = metrics.histogram(
    'verdigraph_webhook_attempt_duration_seconds',
    'Time from the beginning of an attempt to its end.',
    DURATION_BOUNDS,
  )
  const lost = metrics.counter(
    'verdigraph_webhook_leases_lost_total',
    'Leases that ran out before the delivery was begun, or before its attempt was on record.',
  )
  const disabled = metrics.counter(
    'verdigraph_webhook_endpoints_disabled_total',
    'Endpoints that were disabled for failing.',
  )
  const dispatchers = new Map<Environment, Dispatcher>()
  const ofDispatchers = (read: (dispatcher: Dispatcher) => number) => (): Reading[] =>
    [...dispatchers].map(([environment, dispatcher]) => ({ labels: { environment }, value: read(dispatcher) }))
  metrics.gauge(
    'verdigraph_webhook_deliveries_held',
    'Deliveries that this node has leased.',
    ofDispatchers(({ held }) => held),
  )
  metrics.gauge(
    'verdigraph_webhook_deliveries_in_flight',
    'Attempts that this node is making.',
    ofDispatchers(({ inFlight }) => inFlight),
  )
  describeWaiting(metrics, { stores, nowMs })

  return (environment) => {
    for (const outcome of OUTCOMES) attempts.increment({ environment, outcome }, 0)
    lost.increment({ environment }, 0)
    disabled.increment({ environment }, 0)
    return {
      onAttempt({ outcome, durationMs }) {
        attempts.increment({ environment, outcome })
        durations.observe({ environment }, durationMs / 1_000)
      },
      onLeasesLost: (count) => lost.increment({ environment }, count),
      onDisabled: () => disabled.increment({ environment }),
      watch: (dispatcher) => void dispatchers.set(environment, dispatcher),
    }
  }
}

/** What all nodes have before them, from the database. */
function describeWaiting(metrics: Metrics, { stores, nowMs }: Pick<Installation, 'stores' | 'nowMs'>): void {
  let last: { atMs: number; figures: Promise<[Environment, WebhookFigures][]> } | undefined
  const read = () => {
    if (!last || performance.now() - last.atMs > FIGURES_AGE_MAX_MS) {
      const figures = Promise.all(
        ENVIRONMENTS.map(
          async (environment) =>
            [environment, await stores[environment].webhookFigures()] satisfies [Environment, WebhookFigures],
        ),
      )
      last = { atMs: performance.now(), figures }
    }
    return last.figures
  }
  metrics.gauge('verdigraph_webhook_deliveries_pending', 'Deliveries that wait for an enabled endpoint.', async () =>
    (await read()).map(([environment, { pending }]) => ({ labels: { environment }, value: pending })),
  )
  metrics.gauge('verdigraph_webhook_oldest_due_seconds', 'For how long the oldest delivery has been due.', async () =>
    (await read()).map(([environment, { oldest_due_at }]) => ({
      labels: { environment },
      value: oldest_due_at === null ? 0 : Math.max(0, (nowMs() - Date.parse(oldest_due_at)) / 1_000),
    })),
  )
  metrics.gauge('verdigraph_webhook_endpoints', 'Endpoints, by how they are doing.', async () =>
    (await read()).flatMap(([environment, { endpoints }]) =>
      Object.entries(endpoints).map(([state, value]) => ({ labels: { environment, state }, value })),
    ),
  )
}
