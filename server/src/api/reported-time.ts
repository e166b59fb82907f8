import { fieldName, type Violation } from '../http/violation.ts'
import { utcTime } from './utc-time.ts'

/** How far the clock of a caller may be from ours. */
export const CLOCK_SKEW_MS = 5 * 60_000

/**
 * The time of something that a caller reports as past, as it is recorded. A caller's clock may be up to five minutes ahead;
 * such a time is recorded as now, so that no record is dated in the future.
 */
export function reportedTime(text: string, now: string): string {
  const time = utcTime(text)
  return time > now ? now : time
}

/** The violation of a reported time that is further ahead than clocks differ; none if it is not. */
export function refuseFuture(param: string, text: string | undefined, now: string): Violation[] {
  // Most reported times lie in the past, and a comparison of texts settles those.
  if (text === undefined || utcTime(text) <= now || !isLaterThanSkew(text, now)) return []
  const message = `${fieldName(param)} is more than five minutes in the future. The time of this service is ${now}.`
  return [{ param, message }]
}

/** Whether a time precedes another by more than clocks differ. */
export function precedes(time: string, other: string): boolean {
  return isLaterThanSkew(other, time)
}

function isLaterThanSkew(time: string, than: string): boolean {
  return Date.parse(time) - Date.parse(than) > CLOCK_SKEW_MS
}
