import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import { ATTEMPT_RESULTS } from '../core/webhooks/schedule.ts'
import type { Installation } from '../installation/installation.ts'
import type { WebhookFigures } from '../store/environment/webhooks.ts'
import type { Dispatcher, DispatcherEvents } from '../webhooks/dispatcher.ts'

/** Up to the timeout of an attempt. */
const DURATION_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
/** The query for the backlog costs more the longer the backlog is, so frequent scrapes share one answer. */
const BACKLOG_TTL_MS = 5_000

/** Counts the work of one environment's dispatcher. */
export type WebhookMeter = Required<Pick<DispatcherEvents, 'onAttempt' | 'onLeasesLost'>> & {
  onDisabled: () => void
  watch: (dispatcher: Dispatcher) => void
}

/** Registers the webhook metrics and creates the function that counts the work of an environment's dispatcher. */
export function createWebhookMeter(
  registry: Registry,
  { stores, nowMs }: Pick<Installation, 'stores' | 'nowMs'>,
): (environment: Environment) => WebhookMeter {
  const registers = [registry]
  const labelNames = ['environment'] as const
  const attempts = new Counter({
    name: 'verdigraph_webhook_attempts_total',
    help: 'Attempts to deliver an event.',
    labelNames: [...labelNames, 'result'],
    registers,
  })
  const durations = new Histogram({
    name: 'verdigraph_webhook_attempt_duration_seconds',
    help: 'Time from the beginning of an attempt to its end.',
    labelNames,
    buckets: DURATION_BOUNDS_S,
    registers,
  })
  const leasesLost = new Counter({
    name: 'verdigraph_webhook_leases_lost_total',
    help: 'Leases that expired before the delivery was begun, or before its attempt was recorded.',
    labelNames,
    registers,
  })
  const disabled = new Counter({
    name: 'verdigraph_webhook_endpoints_disabled_total',
    help: 'Webhook endpoints disabled because they kept failing.',
    labelNames,
    registers,
  })
  const dispatchers = new Map<Environment, Dispatcher>()
  registerDispatcherGauges(registry, dispatchers)
  registerBacklogGauges(registry, { stores, nowMs })

  return (environment) => {
    for (const result of ATTEMPT_RESULTS) attempts.inc({ environment, result }, 0)
    leasesLost.inc({ environment }, 0)
    disabled.inc({ environment }, 0)
    return {
      onAttempt({ result, durationMs }) {
        attempts.inc({ environment, result })
        durations.observe({ environment }, durationMs / 1_000)
      },
      onLeasesLost: (count) => leasesLost.inc({ environment }, count),
      onDisabled: () => disabled.inc({ environment }),
      watch: (dispatcher) => void dispatchers.set(environment, dispatcher),
    }
  }
}

/** What this node's dispatchers hold in memory. */
function registerDispatcherGauges(registry: Registry, dispatchers: ReadonlyMap<Environment, Dispatcher>): void {
  const register = (name: string, help: string, read: (dispatcher: Dispatcher) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['environment'],
      registers: [registry],
      collect() {
        for (const [environment, dispatcher] of dispatchers) this.set({ environment }, read(dispatcher))
      },
    })
  register('verdigraph_webhook_deliveries_held', 'Deliveries that this node has leased.', ({ held }) => held)
  register('verdigraph_webhook_deliveries_in_flight', 'Attempts that this node is making.', ({ inFlight }) => inFlight)
}

/** The backlog of all nodes, from the database. Without the database these gauges have no values; the others still do. */
function registerBacklogGauges(registry: Registry, { stores, nowMs }: Pick<Installation, 'stores' | 'nowMs'>): void {
  const readFigures = cachedFor(BACKLOG_TTL_MS, () =>
    Promise.all(
      ENVIRONMENTS.map(
        async (environment) => ({ environment, ...(await stores[environment].webhooks.figures()) }) satisfies Backlog,
      ),
    ),
  )
  const register = <L extends string>(
    name: string,
    help: string,
    { labels, set }: { labels: readonly L[]; set: (gauge: Gauge<L | 'environment'>, backlog: Backlog) => void },
  ) =>
    new Gauge<L | 'environment'>({
      name,
      help,
      labelNames: ['environment', ...labels],
      registers: [registry],
      async collect() {
        const backlogs = await readFigures().catch(() => [])
        this.reset()
        for (const backlog of backlogs) set(this, backlog)
      },
    })
  register('verdigraph_webhook_deliveries_pending', 'Deliveries that wait for an enabled webhook endpoint.', {
    labels: [],
    set: (gauge, { environment, pending }) => gauge.set({ environment }, pending),
  })
  register('verdigraph_webhook_oldest_due_seconds', 'For how long the oldest delivery has been due.', {
    labels: [],
    set(gauge, { environment, oldest_due_at: dueAt }) {
      gauge.set({ environment }, dueAt === null ? 0 : Math.max(0, (nowMs() - Date.parse(dueAt)) / 1_000))
    },
  })
  register('verdigraph_webhook_endpoints', 'Webhook endpoints by state.', {
    labels: ['state'],
    set(gauge, { environment, endpoints }) {
      for (const [state, count] of Object.entries(endpoints)) gauge.set({ environment, state }, count)
    },
  })
}

type Backlog = WebhookFigures & { environment: Environment }

/** Repeats an answer, or a failure, until it is older than `ttlMs`. */
function cachedFor<T>(ttlMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; answer: Promise<T> } | undefined
  return () => {
    const nowMs = performance.now()
    if (!last || nowMs - last.atMs > ttlMs) last = { atMs: nowMs, answer: read() }
    return last.answer
  }
}
