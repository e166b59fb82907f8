import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addHistograms, latenciesOf, latencyBucket } from './latency-histogram.ts'

function histogramOf(durations: readonly number[]): number[] {
  const counts: number[] = []
  for (const ms of durations) {
    const bucket = latencyBucket(ms)
    while (counts.length <= bucket) counts.push(0)
    counts[bucket]! += 1
  }
  return counts
}

test('a percentile is at most one bucket away from the true one', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.3, max: 30_000, noNaN: true }), { minLength: 1 }), (durations) => {
      const sorted = durations.toSorted((a, b) => a - b)
      const read = latenciesOf(histogramOf(durations))!
      for (const [share, found] of [
        [0.5, read.p50],
        [0.95, read.p95],
        [0.99, read.p99],
      ] as const) {
        const real = sorted[Math.ceil(share * sorted.length) - 1]!
        assert.ok(found >= real / 1.0906 && found <= real * 1.0906, `${found} for ${real}`)
      }
      assert.equal(read.count, durations.length)
    }),
  )
})

test('two nodes added up are one histogram of all durations', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e9 })), fc.array(fc.double({ min: 0, max: 1e9 })), (one, two) => {
      assert.deepEqual(addHistograms([histogramOf(one), histogramOf(two)]), histogramOf([...one, ...two]))
    }),
  )
})

test('nothing measured has no percentiles, and any duration has a bucket', () => {
  assert.equal(latenciesOf([]), null)
  for (const ms of [Number.NaN, -1, 0, 1e12, Number.POSITIVE_INFINITY]) {
    const bucket = latencyBucket(ms)
    assert.ok(Number.isInteger(bucket) && bucket >= 0 && bucket < 136)
  }
})
