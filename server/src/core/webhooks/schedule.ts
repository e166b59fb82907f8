const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The delay of each attempt after the previous one: ten attempts over a little more than three days. */
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

/** A webhook endpoint that has only failed for this long is disabled. */
export const FAILING_MAX_MS = 5 * 24 * HOUR_MS

/**
 * A failure after this long without an attempt starts the count of `FAILING_MAX_MS` again: a webhook endpoint that gets
 * one event a month and misses two of them has not been failing for a month. Longer than any delay of the schedule.
 */
export const QUIET_MAX_MS = 60 * HOUR_MS

/** Spreads delays uniformly by up to ±20 %, so that a receiver that recovers does not get all retries at once. */
const JITTER = 0.2
/** `Retry-After` may at most double the planned delay, so that a receiver cannot postpone a delivery for ever. */
const RETRY_AFTER_FACTOR_MAX = 2

/** The longest time from the first to the last attempt of a schedule: a receiver asks for twice each delay. */
export const SCHEDULE_MAX_MS = RETRY_AFTER_FACTOR_MAX * ATTEMPT_DELAYS_MS.reduce((sum, delay) => sum + delay, 0)

/** The inputs of `nextDelayMs`. */
export interface NextAttempt {
  delaysMs: readonly number[]
  /** Attempts made so far under this schedule. */
  attemptsMade: number
  /** From 0 up to 1, uniformly distributed. */
  random: number
  /** The delay that the receiver asked for, if any. */
  retryAfterMs: number | undefined
}

/** Returns the delay before the next attempt, or undefined when the schedule has none left. */
export function nextDelayMs({ delaysMs, attemptsMade, random, retryAfterMs }: NextAttempt): number | undefined {
  const planned = delaysMs[attemptsMade]
  if (planned === undefined) return undefined
  const jittered = planned * (1 + JITTER * (2 * random - 1))
  return Math.round(Math.max(jittered, Math.min(retryAfterMs ?? 0, planned * RETRY_AFTER_FACTOR_MAX)))
}

/** Parses `Retry-After` (RFC 9110, section 10.2.3), which holds seconds or a date; undefined when it holds neither. */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * SECOND_MS
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}

/** How an attempt can end. */
export const ATTEMPT_RESULTS = ['delivered', 'refused', 'gone', 'unanswered'] as const
/** How an attempt ended: 2xx, any other answer, 410 (which asks for no further requests), or no answer. */
export type AttemptResult = (typeof ATTEMPT_RESULTS)[number]

/** Returns the result of an attempt from the HTTP status that the receiver answered with, if it answered. */
export function attemptResultOf(status: number | undefined): AttemptResult {
  if (status === undefined) return 'unanswered'
  if (status === 410) return 'gone'
  return status >= 200 && status < 300 ? 'delivered' : 'refused'
}
