const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** How long after the attempt before it each attempt is made; ten in all, over a little more than three days. */
export const ATTEMPT_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/** An endpoint that has done nothing but fail for this long is disabled. */
export const FAILING_MAX_MS = 5 * 24 * HOUR_MS

/**
 * A silence of this length before a failure starts the count of failing anew: an endpoint that gets an event a month and
 * misses two of them has not failed for a month. No delivery waits for its next attempt as long as this.
 */
export const QUIET_MAX_MS = 60 * HOUR_MS

/** Spreads what failed together, so that a receiver that comes back is not met by everything at once. */
const JITTER = 0.2
/** A receiver may ask for patience, but not put a delivery off for good. */
const RETRY_AFTER_FACTOR_MAX = 2

/** What the delay before the next attempt depends on. */
export interface NextAttempt {
  delaysMs: readonly number[]
  /** Attempts of this schedule that were made. */
  attemptsMade: number
  /** Evenly from 0 up to 1. */
  chance: number
  /** What the receiver asked for, if it did. */
  retryAfterMs: number | undefined
}

/** How long to wait before the next attempt; nothing when there is none left. */
export function nextDelayMs({ delaysMs, attemptsMade, chance, retryAfterMs }: NextAttempt): number | undefined {
  const planned = delaysMs[attemptsMade]
  if (planned === undefined) return undefined
  const spread = planned * (1 + JITTER * (2 * chance - 1))
  return Math.round(Math.max(spread, Math.min(retryAfterMs ?? 0, planned * RETRY_AFTER_FACTOR_MAX)))
}

/** Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date. Nothing when it says neither. */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * SECOND_MS
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}

/** How an attempt ended: 2xx, any other answer, 410 (which asks for no further requests), or no answer. */
export type AttemptResult = 'delivered' | 'refused' | 'gone' | 'unanswered'

/** Returns the result of an attempt from the HTTP status that the receiver answered with, if it answered. */
export function attemptResultOf(status: number | undefined): AttemptResult {
  if (status === undefined) return 'unanswered'
  if (status === 410) return 'gone'
  return status >= 200 && status < 300 ? 'delivered' : 'refused'
}
