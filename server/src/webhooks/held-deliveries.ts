import type { DueEndpoint, LeasedDelivery } from '../store/environment/webhook-dispatch.ts'
import { ConcurrencyLimiter, type Permit, type Speed } from './concurrency-limiter.ts'

/**
 * Attempts in flight on this node, for one environment. Idle connections come on top: they stay open for four seconds,
 * at most as many per webhook endpoint as it had attempts in flight at once.
 */
const IN_FLIGHT = { total: 256, unproven: 192, slow: 128, perEndpoint: { fast: 32, unknown: 8, slow: 32 } }
/** Leased deliveries: waiting, in flight, or settling. A reserve keeps fast webhook endpoints busy. */
const HELD = { total: 4_096, unproven: 2_048, slow: 1_024, perEndpoint: { fast: 1_024, unknown: 8, slow: 32 } }
/** A webhook endpoint whose attempts take longer is slow. */
const FAST_MS = 1_000
const SPEEDS_MAX = 10_000

/** A leased delivery. */
export type HeldDelivery = LeasedDelivery & {
  /** The last moment at which an attempt still ends within the lease. */
  startBeforeMs: number
  /** Counts against `HELD` until the delivery is removed. */
  held: Permit
  /** Counts against `IN_FLIGHT` until the attempt ends. */
  inFlight: (Permit & { startedMs: number }) | undefined
}

/** How many deliveries of a webhook endpoint to lease; a permit for each is acquired already. */
export interface PlannedLease extends DueEndpoint {
  permit: Permit
  count: number
}

/** The key of a webhook endpoint. */
export type EndpointKey = Pick<DueEndpoint, 'org_id' | 'endpoint_id'>

/** The deliveries of one webhook endpoint that this node has leased. */
interface EndpointQueue extends EndpointKey {
  /** Oldest lease first. */
  waiting: HeldDelivery[]
  /** Oldest attempt first. */
  inFlight: Set<HeldDelivery>
  /** Waiting, in flight, or settling. */
  held: number
}

/** Returns the key of a webhook endpoint as text. */
export function keyOf({ org_id, endpoint_id }: EndpointKey): string {
  return `${org_id} ${endpoint_id}`
}

/**
 * The deliveries that this node has leased, in one queue per webhook endpoint, with the limits on leases and attempts.
 * Leases and attempts are handed out round-robin, so a long backlog of one webhook endpoint delays no other.
 *
 * A delivery is in one of these states:
 * - waiting (`add`): leased, and its attempt has not started.
 *   → in flight (`start`), once its webhook endpoint is ready and there is a permit.
 *   → removed (`removeWaiting`), when its webhook endpoint is disabled or the node closes; its lease is released.
 *   → removed (`start`, `removeWaiting`), when an attempt could no longer end within the lease; the lease then expires.
 * - in flight: an attempt is being made.
 *   → settling (`end`), when the attempt ends; its permit is free for another attempt at once.
 * - settling: the result is being recorded.
 *   → removed (`remove`), when the result is recorded, or could not be recorded: then the lease expires.
 *   → waiting (`putBack`), when nothing was sent because the webhook endpoint had changed.
 */
export class HeldDeliveries {
  readonly #queues = new Map<string, EndpointQueue>()
  readonly #held = new ConcurrencyLimiter(HELD)
  readonly #inFlight = new ConcurrencyLimiter(IN_FLIGHT)
  /** How long the last attempt to each webhook endpoint took. */
  readonly #speeds = new Map<string, Speed>()
  #plans = 0

  /** Deliveries that this node has leased. */
  get held(): number {
    return this.#held.acquired
  }

  /** Attempts that are being made. */
  get inFlight(): number {
    return this.#inFlight.acquired
  }

  /** The webhook endpoints that this node has leased deliveries for. */
  endpoints(): EndpointKey[] {
    return [...this.#queues.values()]
  }

  /** Plans how many due deliveries to lease. Each plan starts with another webhook endpoint. */
  plan(due: readonly DueEndpoint[]): PlannedLease[] {
    const first = due.length > 0 ? this.#plans++ % due.length : 0
    const planned = [...due.slice(first), ...due.slice(0, first)].map((endpoint) => ({
      ...endpoint,
      permit: {
        organizationId: endpoint.org_id,
        speed: this.#speedOf(endpoint, endpoint.failing ? 'slow' : 'unknown'),
      },
      held: this.#queues.get(keyOf(endpoint))?.held ?? 0,
      count: 0,
    }))
    roundRobin(planned, (endpoint) => {
      const held = endpoint.held + endpoint.count
      // Only fast webhook endpoints get a reserve; other deliveries that cannot start soon are left to other nodes.
      if (endpoint.permit.speed !== 'fast' && !this.#inFlight.canAcquire(endpoint.permit, held)) return false
      if (!this.#held.acquire(endpoint.permit, held)) return false
      endpoint.count += 1
      return true
    })
    return planned.filter(({ count }) => count > 0)
  }

  /** Adds the deliveries that were leased, and releases the permits of planned leases that were not granted. */
  add(planned: readonly PlannedLease[], leased: readonly LeasedDelivery[], startBeforeMs: number): void {
    const unused = new Map(planned.map((lease) => [keyOf(lease), { ...lease }]))
    for (const row of leased) {
      const key = keyOf(row)
      const lease = unused.get(key)!
      lease.count -= 1
      const queue = this.#queues.get(key) ?? {
        org_id: row.org_id,
        endpoint_id: row.endpoint_id,
        waiting: [],
        inFlight: new Set(),
        held: 0,
      }
      this.#queues.set(key, queue)
      queue.waiting.push({ ...row, startBeforeMs, held: lease.permit, inFlight: undefined })
      queue.held += 1
    }
    for (const { count, permit } of unused.values()) for (let left = count; left > 0; left--) this.#held.release(permit)
  }

  /** Starts as many attempts as there are permits for. Returns how many deliveries were too late for their lease. */
  start(isReady: (endpoint: EndpointKey) => boolean, attempt: (delivery: HeldDelivery) => void): number {
    let late = 0
    roundRobin([...this.#queues.values()], (queue) => {
      late += this.#removeLate(queue)
      const [delivery] = queue.waiting
      if (!delivery) return false
      const permit = { organizationId: queue.org_id, speed: this.#speedOf(queue, delivery.held.speed) }
      if (!this.#inFlight.canAcquire(permit, queue.inFlight.size) || !isReady(queue)) return false
      this.#inFlight.acquire(permit, queue.inFlight.size)
      delivery.inFlight = { ...permit, startedMs: performance.now() }
      queue.waiting.shift()
      queue.inFlight.add(delivery)
      // To the end of the map: the next call starts with the other queues.
      this.#queues.delete(keyOf(queue))
      this.#queues.set(keyOf(queue), queue)
      attempt(delivery)
      return true
    })
    return late
  }

  /** Frees the place of an attempt that has ended. Its delivery stays held. */
  end(delivery: HeldDelivery): void {
    const key = keyOf(delivery)
    const { startedMs } = delivery.inFlight!
    this.#queues.get(key)!.inFlight.delete(delivery)
    this.#inFlight.release(delivery.inFlight!)
    if (!this.#speeds.has(key) && this.#speeds.size === SPEEDS_MAX) this.#speeds.clear()
    this.#speeds.set(key, performance.now() - startedMs > FAST_MS ? 'slow' : 'fast')
  }

  /** Puts a delivery whose attempt was withdrawn at the front of its queue. */
  putBack(delivery: HeldDelivery): void {
    this.#queues.get(keyOf(delivery))!.waiting.unshift(delivery)
  }

  /** Removes a delivery that is recorded, or whose lease this node no longer relies on. */
  remove(delivery: HeldDelivery): void {
    const key = keyOf(delivery)
    const queue = this.#queues.get(key)!
    queue.held -= 1
    this.#held.release(delivery.held)
    if (queue.held === 0) this.#queues.delete(key)
  }

  /** Removes waiting deliveries of some webhook endpoints; the caller releases the leases of those returned. */
  removeWaiting(isChosen: (endpoint: EndpointKey) => boolean): HeldDelivery[] {
    return [...this.#queues.values()].filter(isChosen).flatMap((queue) => {
      this.#removeLate(queue)
      const removed = queue.waiting.splice(0)
      for (const delivery of removed) this.remove(delivery)
      return removed
    })
  }

  /** Removes deliveries that can no longer be sent within their lease; any node may lease them after it. */
  #removeLate({ waiting }: EndpointQueue): number {
    let late = 0
    while (waiting.length > 0 && waiting[0]!.startBeforeMs <= performance.now()) {
      this.remove(waiting.shift()!)
      late += 1
    }
    return late
  }

  /** The speed of the last attempt, unless one in flight takes too long already; `assumed` before the first attempt. */
  #speedOf(endpoint: EndpointKey, assumed: Speed): Speed {
    const key = keyOf(endpoint)
    const [oldest] = this.#queues.get(key)?.inFlight ?? []
    if (oldest && performance.now() - oldest.inFlight!.startedMs > FAST_MS) return 'slow'
    return this.#speeds.get(key) ?? assumed
  }
}

/** Offers each item one turn after another, until every item has declined one. */
function roundRobin<T>(items: readonly T[], takesTurn: (item: T) => boolean): void {
  for (let open = items; open.length > 0; ) open = open.filter(takesTurn)
}
