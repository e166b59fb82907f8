import { type LookupAddress, lookup as lookupBySystem } from 'node:dns'
import type { Speed } from './concurrency-limiter.ts'

/**
 * Lookups that run at once. `getaddrinfo` blocks a thread of libuv's pool (four by default) and cannot be cancelled: a
 * name whose DNS servers are silent blocks its thread for 10 or 20 seconds. One thread of the pool is never used; one
 * is reserved for names whose last lookup was fast; all names whose last lookup was slow share one.
 */
const LIMITS = { total: 3, unproven: 2, slow: 1 }
/** A lookup that takes longer is slow, whether it succeeds or fails: a fast failure delays no other name. */
const FAST_MS = 1_000
/** Callers get an error after this time; the thread may stay blocked for longer. */
const TIMEOUT_MS = 5_000
/** Short, so that a connection uses the addresses that the name has now. Every connection checks them again. */
const KEEP_FOUND_MS = 2_000
/** Shorter than the delay before the second attempt of a delivery. */
const KEEP_FAILURE_MS = 3_000
const NAMES_MAX = 10_000

/** Finds every address of a name. */
export type ResolveAll = (hostname: string) => Promise<LookupAddress[]>

/** One lookup of a name, shared by all callers that ask for the name until it expires. */
interface Lookup {
  hostname: string
  /** Measured when this lookup ends; before that, the speed of the name's previous lookup. */
  speed: Speed
  addresses: PromiseWithResolvers<LookupAddress[]>
  startedMs: number
  expiresMs: number
}

/** The parts of a lookup that tests replace. */
export interface NameLookupParts {
  resolveAll: ResolveAll
  timeoutMs: number
  namesMax: number
  nowMs: () => number
}

/**
 * Looks up names in such a way that names without an answer do not delay the others.
 *
 * A lookup goes through these states:
 * - queued, first in first out, until `LIMITS` allow a name of its speed to start. It stays queued when its callers
 *   time out: otherwise a slow name that waits behind other slow names for longer than the timeout would never be
 *   looked up.
 * - running, until the resolver answers. If it runs for longer than the timeout, new callers get the error at once.
 * - finished: its addresses or its error are cached until it expires; then the next caller queues a new lookup.
 */
export class NameLookup {
  readonly #resolveAll: ResolveAll
  readonly #timeoutMs: number
  readonly #namesMax: number
  readonly #nowMs: () => number
  /** The latest lookup of each name, in the order in which they were queued. */
  readonly #lookups = new Map<string, Lookup>()
  readonly #queued = new Set<Lookup>()
  readonly #running = new Set<Lookup>()

  constructor(parts: Partial<NameLookupParts> = {}) {
    this.#resolveAll = parts.resolveAll ?? resolveBySystem
    this.#timeoutMs = parts.timeoutMs ?? TIMEOUT_MS
    this.#namesMax = parts.namesMax ?? NAMES_MAX
    this.#nowMs = parts.nowMs ?? (() => performance.now())
  }

  /** Returns every address of a name; rejects when it has none, or when the lookup does not end in time. */
  readonly find: ResolveAll = async (hostname) => {
    const latest = this.#lookups.get(hostname)
    const isUsable = latest !== undefined && this.#nowMs() < latest.expiresMs
    const lookup = isUsable ? latest : this.#enqueue(hostname, latest?.speed ?? 'unknown')
    const timedOut = Promise.withResolvers<never>()
    const error = new Error(`${hostname} could not be looked up within ${this.#timeoutMs / 1_000} s`)
    const waitMs = Math.max(0, this.#timeoutMs - this.#runningMs(lookup))
    const timer = setTimeout(() => timedOut.reject(error), waitMs)
    try {
      return await Promise.race([lookup.addresses.promise, timedOut.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #enqueue(hostname: string, speed: Speed): Lookup {
    const addresses = Promise.withResolvers<LookupAddress[]>()
    // All callers may have timed out when it fails.
    addresses.promise.catch(() => {})
    const lookup: Lookup = { hostname, speed, addresses, startedMs: 0, expiresMs: Number.POSITIVE_INFINITY }
    this.#lookups.delete(hostname)
    if (this.#lookups.size >= this.#namesMax) this.#evictOldest()
    this.#lookups.set(hostname, lookup)
    this.#queued.add(lookup)
    // The other queued ones could not start before, and nothing has changed for them.
    if (this.#mayStart(lookup)) void this.#run(lookup)
    return lookup
  }

  #startQueued(): void {
    for (const lookup of this.#queued) {
      if (this.#mayStart(lookup)) void this.#run(lookup)
    }
  }

  #mayStart({ speed }: Lookup): boolean {
    if (this.#running.size >= LIMITS.total) return false
    const speeds = Array.from(this.#running, (running) => this.#speedOf(running))
    if (speed !== 'fast' && speeds.filter((other) => other !== 'fast').length >= LIMITS.unproven) return false
    return speed !== 'slow' || speeds.filter((other) => other === 'slow').length < LIMITS.slow
  }

  async #run(lookup: Lookup): Promise<void> {
    this.#queued.delete(lookup)
    this.#running.add(lookup)
    lookup.startedMs = this.#nowMs()
    let keepMs = KEEP_FOUND_MS
    try {
      lookup.addresses.resolve(await this.#resolveAll(lookup.hostname))
    } catch (error) {
      lookup.addresses.reject(error)
      keepMs = KEEP_FAILURE_MS
    }
    lookup.speed = this.#runningMs(lookup) > FAST_MS ? 'slow' : 'fast'
    lookup.expiresMs = this.#nowMs() + keepMs
    this.#running.delete(lookup)
    this.#startQueued()
  }

  /** A lookup that is still running is slow as soon as it has run for too long. */
  #speedOf(lookup: Lookup): Speed {
    return this.#runningMs(lookup) > FAST_MS ? 'slow' : lookup.speed
  }

  #runningMs(lookup: Lookup): number {
    return this.#running.has(lookup) ? this.#nowMs() - lookup.startedMs : 0
  }

  /**
   * Evicts the oldest cached name; if all are queued or running, the oldest queued one, whose callers fail at once. A
   * running lookup is never evicted: a name has at most one.
   */
  #evictOldest(): void {
    const lookups = [...this.#lookups.values()]
    const cached = lookups.find((lookup) => !this.#running.has(lookup) && !this.#queued.has(lookup))
    const evicted = cached ?? lookups.find((lookup) => this.#queued.has(lookup))
    if (!evicted) return
    this.#queued.delete(evicted)
    this.#lookups.delete(evicted.hostname)
    evicted.addresses.reject(new Error(`${evicted.hostname} could not be looked up: too many names are waiting`))
  }
}

function resolveBySystem(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) =>
    lookupBySystem(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  )
}
