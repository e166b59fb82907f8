import type { DayFigures } from './day-figures.ts'

// A twentieth of what an average day of spending takes: less is a fee, or a debit made to be counted.
const SHARE_MIN = 0.05
// What one day may be of the sum that the average is taken of: a quarter, or two average days if there are fewer than eight.
const SHARE_OF_SUM_MAX = 0.25
const AVERAGE_DAYS_MAX = 2

/**
 * The days whose spending shows how an account is used. Days with nothing but a fee, own transfers or circular money are left
 * out: debits that cost nothing could otherwise be added at will, on the days on which the account looks best.
 */
export function spendingDays(days: readonly DayFigures[]): DayFigures[] {
  const outflowMin = averageOutflow(days) * SHARE_MIN
  return days.filter(({ outflow }) => outflow >= outflowMin)
}

/**
 * What an average day of spending takes, each day counted up to a share of the sum. Under a plain mean, one day on which a car
 * is paid would turn all others into fees; a median would be next to nothing once tiny debits outnumber the others. Without
 * any spending it is NaN, which no day reaches.
 */
function averageOutflow(days: readonly DayFigures[]): number {
  const { above: length } = splitBy(days, 0)
  const share = Math.max(SHARE_OF_SUM_MAX, AVERAGE_DAYS_MAX / length)
  // If the n largest days count as x each, x is the share of the sum where x = share · (n · x + rest). Capping the days above x
  // lowers x, until no other day is above it. It reaches the rest, and with it every other day, before the shares of n days
  // are the whole.
  let split = splitBy(days, Number.POSITIVE_INFINITY)
  for (;;) {
    const { above: capped, rest } = split
    const cap = (share * rest) / (1 - share * capped)
    split = splitBy(days, cap)
    if (split.above <= capped) return (capped * cap + rest) / length
  }
}

/** How many days take more than the cap, and what all others take together. */
function splitBy(days: readonly DayFigures[], cap: number): { above: number; rest: number } {
  let [above, rest] = [0, 0]
  for (const { outflow } of days) {
    if (outflow > cap) above += 1
    else if (outflow > 0) rest += outflow
  }
  return { above, rest }
}
