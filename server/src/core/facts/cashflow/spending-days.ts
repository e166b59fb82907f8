import { type DayBucket, outflowOf } from './day-bucket.ts'

// A twentieth of what an average day of spending takes: less is a fee, or a debit made to be counted.
const SHARE_MIN = 0.05
// What one day may be of the sum that the average is taken of: a quarter, or two average days if there are fewer than eight.
const SHARE_OF_SUM_MAX = 0.25
const AVERAGE_DAYS_MAX = 2

/**
 * The days whose spending shows how an account is used. Days with nothing but a fee, own transfers or circular money are left
 * out: debits that cost nothing could otherwise be added at will, on the days on which the account looks best.
 */
export function spendingDays(days: readonly DayBucket[]): DayBucket[] {
  // Each outflow is summed once: this runs over a year of days with every decision.
  const outflows = days.map(outflowOf)
  const outflowMin = averageOf(outflows) * SHARE_MIN
  return days.filter((_, index) => outflows[index]! >= outflowMin)
}

/**
 * What an average day of spending takes, each day counted up to a share of the sum. Under a plain mean, one day on which a car
 * is paid would turn all others into fees; a median would be next to nothing once tiny debits outnumber the others. Without
 * any spending it is NaN, which no day reaches.
 */
function averageOf(outflows: readonly number[]): number {
  const spent = Float64Array.from(outflows.filter((outflow) => outflow > 0)).sort()
  const { length } = spent
  const share = Math.max(SHARE_OF_SUM_MAX, AVERAGE_DAYS_MAX / length)
  let rest = 0
  for (const outflow of spent) rest += outflow
  // If the n largest days count as x each, x is the share of the sum where x = share · (n · x + rest). It reaches the rest, and
  // with it every other day, before the shares of n days are the whole.
  let [capped, cap] = [0, share * rest]
  while (spent[length - 1 - capped]! > cap) {
    rest -= spent[length - 1 - capped]!
    capped += 1
    cap = (share * rest) / (1 - share * capped)
  }
  return (capped * cap + rest) / length
}
