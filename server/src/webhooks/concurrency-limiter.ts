/** How long attempts to a webhook endpoint take, as far as this node has seen; whether they succeed does not matter. */
export type Speed = 'fast' | 'unknown' | 'slow'

/** How many permits there are, in all and for each kind of webhook endpoint. */
export interface ConcurrencyLimits {
  total: number
  /** Of the total, for webhook endpoints that are not known to be fast. */
  unproven: number
  /** Of `unproven`, for webhook endpoints that are known to be slow. */
  slow: number
  /** For one webhook endpoint; fewer when few permits are left. */
  perEndpoint: Record<Speed, number>
}

/** A place within the limits. It counts for the speed that it was acquired with until it is released. */
export interface Permit {
  organizationId: string
  speed: Speed
}

/** A webhook endpoint gets at most this part of the permits that are left. */
const SHARE_OF_LEFT = 1 / 4

/**
 * Limits concurrency fairly. Webhook endpoints that are not known to be fast get only a part of the permits, and slow
 * ones only a part of that: so fast and new webhook endpoints find permits however many others are slow.
 * Within its class (fast, or not known to be fast) an organization may hold no more permits than are left. So n
 * organizations that all want everything get an equal share each, and one such share stays free for the next
 * organization (the dynamic threshold of Choudhury and Hahne, 1998).
 */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits
  readonly #acquired = { fast: 0, unknown: 0, slow: 0 }
  readonly #byOrganization = { fast: new Map<string, number>(), unproven: new Map<string, number>() }

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits
  }

  /** Permits that are acquired and not released. */
  get acquired(): number {
    return this.#acquired.fast + this.#unproven
  }

  /** Whether a webhook endpoint that holds so many permits already may acquire another one. */
  canAcquire({ organizationId, speed }: Permit, endpointHolds: number): boolean {
    const left = this.#leftFor(speed)
    if ((this.#organizationsOf(speed).get(organizationId) ?? 0) >= left) return false
    return endpointHolds < Math.max(1, Math.min(this.#limits.perEndpoint[speed], Math.floor(left * SHARE_OF_LEFT)))
  }

  /** Acquires a permit for a webhook endpoint that holds so many already, or returns false. */
  acquire(permit: Permit, endpointHolds: number): boolean {
    if (!this.canAcquire(permit, endpointHolds)) return false
    this.#count(permit, 1)
    return true
  }

  /** Gives back a permit, with the speed that it was acquired with. */
  release(permit: Permit): void {
    this.#count(permit, -1)
  }

  get #unproven(): number {
    return this.#acquired.unknown + this.#acquired.slow
  }

  #leftFor(speed: Speed): number {
    const { total, unproven, slow } = this.#limits
    let left = total - this.acquired
    if (speed !== 'fast') left = Math.min(left, unproven - this.#unproven)
    if (speed === 'slow') left = Math.min(left, slow - this.#acquired.slow)
    return left
  }

  #organizationsOf(speed: Speed): Map<string, number> {
    return speed === 'fast' ? this.#byOrganization.fast : this.#byOrganization.unproven
  }

  #count({ organizationId, speed }: Permit, by: 1 | -1): void {
    this.#acquired[speed] += by
    const organizations = this.#organizationsOf(speed)
    const count = (organizations.get(organizationId) ?? 0) + by
    if (count === 0) organizations.delete(organizationId)
    else organizations.set(organizationId, count)
  }
}
