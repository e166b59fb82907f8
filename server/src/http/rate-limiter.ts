import type { RateLimit } from '../config.ts'

/** Whether one request may pass, how many more may, and how long to wait before the next. */
export interface Allowance {
  allowed: boolean
  remaining: number
  /** Time until one more request may pass. */
  retryAfterSeconds: number
  /** Time until the whole burst is available again. */
  resetSeconds: number
}

interface Bucket {
  tokens: number
  refilledAtMs: number
}

/** A token bucket per organization. Each node has its own buckets, so the limit applies per node. */
export class RateLimiter {
  readonly #limit: RateLimit
  readonly #buckets = new Map<string, Bucket>()

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  /** The value of the `RateLimit-Policy` header: the burst as quota `q`, in the `w` seconds that refill it. */
  get policy(): string {
    return `"default";q=${this.#limit.burst};w=${Math.max(1, Math.round(this.#limit.burst / this.#limit.perSecond))}`
  }

  /** Takes a token for a request of the organization, if its bucket holds one. `nowMs` is of a clock that is never set back. */
  take(organizationId: string, nowMs: number = performance.now()): Allowance {
    const { perSecond, burst } = this.#limit
    const bucket = this.#buckets.get(organizationId) ?? { tokens: burst, refilledAtMs: nowMs }
    this.#buckets.set(organizationId, bucket)
    const elapsedMs = Math.max(0, nowMs - bucket.refilledAtMs)
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000)
    bucket.refilledAtMs = Math.max(bucket.refilledAtMs, nowMs)

    const allowed = bucket.tokens >= 1
    if (allowed) bucket.tokens -= 1
    return {
      allowed,
      remaining: Math.floor(bucket.tokens),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
      resetSeconds: Math.ceil((burst - bucket.tokens) / perSecond),
    }
  }
}
