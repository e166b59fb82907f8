import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { SendingEndpoint } from '../store/environment/webhook-dispatch.ts'
import { type EndpointKey, keyOf } from './held-deliveries.ts'

/** The maximum age of a cached row when an attempt starts. Changes must take effect within a second. */
const FRESH_MS = 500
/** A webhook endpoint that was read longer ago is read again with the next poll. */
const REFRESH_AFTER_MS = 200

interface CachedEndpoint {
  /** Undefined when the webhook endpoint does not exist any more. */
  endpoint: SendingEndpoint | undefined
  readMs: number
}

/**
 * Caches the webhook endpoints of the deliveries that this node holds. A webhook endpoint may be disabled or get
 * another secret while its deliveries wait, so it is read again and again: all of them with one statement.
 */
export class EndpointCache {
  readonly #store: { dispatch: Pick<EnvironmentStore['dispatch'], 'sendingEndpoints'> }
  #cached = new Map<string, CachedEndpoint>()

  constructor(store: { dispatch: Pick<EnvironmentStore['dispatch'], 'sendingEndpoints'> }) {
    this.#store = store
  }

  /** Reads these webhook endpoints again unless they were read a moment ago, and evicts all others. */
  async refresh(endpoints: readonly EndpointKey[]): Promise<void> {
    const kept = new Map<string, CachedEndpoint>()
    const stale: EndpointKey[] = []
    for (const endpoint of endpoints) {
      const cached = this.#cached.get(keyOf(endpoint))
      if (cached) kept.set(keyOf(endpoint), cached)
      if (!cached || performance.now() - cached.readMs > REFRESH_AFTER_MS) stale.push(endpoint)
    }
    this.#cached = kept
    if (stale.length === 0) return
    // Taken before the query: rows that took long to arrive are already old.
    const readMs = performance.now()
    const rows = await this.#store.dispatch.sendingEndpoints(stale)
    const found = new Map(rows.map((row) => [keyOf({ org_id: row.org_id, endpoint_id: row.id }), row]))
    for (const endpoint of stale) this.#cached.set(keyOf(endpoint), { endpoint: found.get(keyOf(endpoint)), readMs })
  }

  /** Whether a webhook endpoint was read recently enough to start an attempt. */
  isFresh(key: EndpointKey): boolean {
    const cached = this.#cached.get(keyOf(key))
    return cached !== undefined && performance.now() - cached.readMs <= FRESH_MS
  }

  /** Returns a webhook endpoint if it was enabled when it was last read. */
  enabled(key: EndpointKey): SendingEndpoint | undefined {
    const endpoint = this.#cached.get(keyOf(key))?.endpoint
    return endpoint?.state === 'enabled' ? endpoint : undefined
  }

  /** Whether a webhook endpoint was disabled or missing when it was last read. */
  isDisabled(key: EndpointKey): boolean {
    return this.#cached.has(keyOf(key)) && this.enabled(key) === undefined
  }
}
