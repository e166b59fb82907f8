import type { EnvironmentStore } from '../store/environment-store.ts'
import type { SendingEndpoint } from '../store/queries/webhook-dispatch.ts'
import { type EndpointKey, keyOf } from './held-deliveries.ts'

/** How old what is known of an endpoint may be when something is sent to it; what people change holds within a second. */
const FRESH_MS = 500
/** Older than this, it is read again with the next round. */
const READ_AGAIN_MS = 200

interface Known {
  /** Nothing when there is no such endpoint any more. */
  endpoint: SendingEndpoint | undefined
  readMs: number
}

/**
 * What endpoints are like now: deliveries are held for a while, and in that time an endpoint may be disabled or get another
 * secret. All of them are read with one statement.
 */
export class EndpointWatch {
  readonly #store: Pick<EnvironmentStore, 'sendingEndpoints'>
  #known = new Map<string, Known>()

  constructor(store: Pick<EnvironmentStore, 'sendingEndpoints'>) {
    this.#store = store
  }

  /** Brings up to date what is known of these endpoints, and forgets all others. */
  async read(endpoints: readonly EndpointKey[]): Promise<void> {
    const kept = new Map<string, Known>()
    const old: EndpointKey[] = []
    for (const endpoint of endpoints) {
      const known = this.#known.get(keyOf(endpoint))
      if (known) kept.set(keyOf(endpoint), known)
      if (!known || performance.now() - known.readMs > READ_AGAIN_MS) old.push(endpoint)
    }
    this.#known = kept
    if (old.length === 0) return
    // Before it is asked for: an answer that took long is old when it comes.
    const readMs = performance.now()
    const rows = await this.#store.sendingEndpoints(old)
    const found = new Map(rows.map((row) => [keyOf({ org_id: row.org_id, endpoint_id: row.id }), row]))
    for (const endpoint of old) this.#known.set(keyOf(endpoint), { endpoint: found.get(keyOf(endpoint)), readMs })
  }

  /** Whether what is known of an endpoint is fresh enough to act on. */
  isFresh(key: EndpointKey): boolean {
    const known = this.#known.get(keyOf(key))
    return known !== undefined && performance.now() - known.readMs <= FRESH_MS
  }

  /** An endpoint that may be sent to, as it was when it was last looked at. */
  enabled(key: EndpointKey): SendingEndpoint | undefined {
    const endpoint = this.#known.get(keyOf(key))?.endpoint
    return endpoint?.state === 'enabled' ? endpoint : undefined
  }

  /** Whether an endpoint is known to be disabled, or to be gone. */
  isClosed(key: EndpointKey): boolean {
    return this.#known.has(keyOf(key)) && this.enabled(key) === undefined
  }
}
