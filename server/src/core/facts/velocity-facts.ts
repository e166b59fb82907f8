import { MONTH_DAYS } from './fact-windows.ts'
import { DAY_MS, type Fact, known } from './facts.ts'

/** How many requests are counted at most: the newest are read, so that an entity with 100,000 decisions costs no more. */
export const REQUESTS_COUNTED_MAX = 20

const WEEK_DAYS = 7

/** When an entity asked, and when it had asked before: its newest requests, each of which was decided. */
export interface RequestTimes {
  at: string
  earlier: readonly string[]
}

/** How often an entity asked before this request. A request that another node dates later was recorded before, and counts. */
export function velocityFacts({ at, earlier }: RequestTimes): Record<'in7Days' | 'in30Days', Fact> {
  const within = (days: number) => {
    const count = earlier.filter((instant) => Date.parse(at) - Date.parse(instant) < days * DAY_MS).length
    return known(Math.min(REQUESTS_COUNTED_MAX, count))
  }
  return { in7Days: within(WEEK_DAYS), in30Days: within(MONTH_DAYS) }
}
