import type { DayBucket } from './day-bucket.ts'

/** By how much a balance may be off: one major unit, because some banks round the balances that they report. */
export const ROUNDING = 10_000

/**
 * Counts, for each day, the balances that do not follow from the balance before.
 *
 * Honest balances form a chain: the balance before a transaction is the balance after another. Then the sum over
 * after² − before² collapses to close² − open², and with close − open = net, the sum of the amounts, both ends of a day
 * are known, in whatever order its transactions were booked or sent. Balances that form no chain leave no integer
 * solution, or one that ends below the lowest of them: then all of them are counted. A day whose ends are known must start
 * where the last one ended. Where reports contradict each other, there is no
 * chain to continue.
 */
export function brokenBalances(days: readonly DayBucket[]): number[] {
  let close: number | undefined
  return days.map((bucket) => {
    if (bucket.contradictions > 0) {
      close = undefined
      return bucket.contradictions
    }
    // Transactions without a balance in between leave nothing to compare with.
    if (bucket.balances < bucket.transactions) {
      close = undefined
      return 0
    }
    const before = close
    const ends = endsOf(bucket)
    if (ends !== undefined && (before === undefined || Math.abs(ends.open - before) <= ROUNDING)) {
      close = ends.close
      return 0
    }
    if (before === undefined) return 0
    if (continues(bucket, before)) {
      close = before + Number(bucket.net)
      return 0
    }
    close = ends?.close
    return ends !== undefined && Number(bucket.lowestBalance) > ends.close + ROUNDING ? bucket.balances : 1
  })
}

/** The balances before and after all transactions of a day; undefined if its balances form no exact chain. */
export function endsOf({ net, squares }: DayBucket): { open: number; close: number } | undefined {
  const [change, difference] = [BigInt(net), BigInt(squares)]
  if (change === 0n) return undefined
  const sum = difference / change
  if (sum * change !== difference || (sum - change) % 2n !== 0n) return undefined
  const open = (sum - change) / 2n
  return { open: Number(open), close: Number(open + change) }
}

/**
 * Whether the balances of a day continue a chain that has reached `open`, up to the rounding of each balance: one that is off by
 * ROUNDING changes its after² − before² by twice that, times its amount.
 */
function continues({ net, squares, debited }: DayBucket, open: number): boolean {
  const close = open + Number(net)
  const expected = close * close - open * open
  const moved = 2 * Number(debited) + Number(net)
  return Math.abs(Number(squares) - expected) <= 2 * ROUNDING * moved
}
