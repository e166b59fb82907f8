/**
 * A histogram of durations on a log scale: eight buckets for each doubling, from a quarter of a millisecond to half a
 * minute. Histograms of several nodes or hours are added bucket by bucket, and a percentile is at most 9 % off.
 */

const FIRST_MS = 0.25
const BUCKETS_PER_DOUBLING = 8
/** The last bucket also holds everything longer. */
const BUCKETS = 17 * BUCKETS_PER_DOUBLING

/** The bucket of a duration. */
export function latencyBucket(ms: number): number {
  if (!(ms > FIRST_MS)) return 0
  return Math.min(BUCKETS - 1, Math.floor(Math.log2(ms / FIRST_MS) * BUCKETS_PER_DOUBLING))
}

/** The percentiles of a histogram, in milliseconds. */
export interface Latencies {
  /** How many durations the histogram holds. */
  count: number
  p50: number
  p95: number
  p99: number
}

/** Reads the percentiles of a histogram; null if it is empty. */
export function latenciesOf(counts: readonly number[]): Latencies | null {
  const count = counts.reduce((sum, each) => sum + each, 0)
  if (count === 0) return null
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(counts, share * count)) as [number, number, number]
  return { count, p50, p95, p99 }
}

/** Adds histograms bucket by bucket. */
export function addHistograms(histograms: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...histograms.map((counts) => counts.length))
  return Array.from({ length }, (_, bucket) => histograms.reduce((sum, counts) => sum + (counts[bucket] ?? 0), 0))
}

/** The duration below which `rank` durations lie, interpolated within its bucket. */
function quantile(counts: readonly number[], rank: number): number {
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (below + count >= rank && count > 0) return lowerBound(bucket + (rank - below) / count)
    below += count
  }
  return lowerBound(counts.length)
}

function lowerBound(bucket: number): number {
  return FIRST_MS * 2 ** (bucket / BUCKETS_PER_DOUBLING)
}
