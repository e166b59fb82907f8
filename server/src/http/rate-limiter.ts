import type { RateLimit } from '../config.ts'

/** The answer to one request: whether it may pass, what is left, and for how long to wait otherwise. */
export interface Allowance {
  allowed: boolean
  remaining: number
  /** Until one more request may pass. */
  retryAfterSeconds: number
  /** Until the whole burst is available again. */
  resetSeconds: number
}

interface Bucket {
  tokens: number
  filledAtMs: number
}

/** A token bucket for each organization, held by this node and for this node. */
export class RateLimiter {
  readonly #limit: RateLimit
  readonly #buckets = new Map<string, Bucket>()

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  /** The value of the `RateLimit-Policy` header: the burst is the quota of the time that it takes to refill. */
  get policy(): string {
    return `"default";q=${this.#limit.burst};w=${Math.max(1, Math.round(this.#limit.burst / this.#limit.perSecond))}`
  }

  take(organizationId: string, nowMs: number): Allowance {
    const { perSecond, burst } = this.#limit
    const bucket = this.#buckets.get(organizationId) ?? { tokens: burst, filledAtMs: nowMs }
    this.#buckets.set(organizationId, bucket)
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000)
    bucket.filledAtMs = nowMs

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
