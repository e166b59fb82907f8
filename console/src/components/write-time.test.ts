import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'

// Formats take the zone of the process when their module is loaded, as a page takes that of its reader.
process.env.TZ = 'Europe/Berlin'
const { utcOf, writeTime } = await import('./write-time.ts')

const NOW_MS = Date.parse('2026-11-22T12:00:00.000Z')
const written = (at: string, as: Parameters<typeof writeTime>[1] = 'date-time') => writeTime(at, as, NOW_MS)

test('a moment before midnight in UTC is on the next day of a reader east of it', () => {
  assert.deepEqual(
    ['2026-11-21T22:59:59.999Z', '2026-11-21T23:00:00.000Z'].map((at) => written(at)),
    ['21 Nov, 23:59', '22 Nov, 00:00'],
  )
  assert.equal(written('2026-11-21T23:00:00.000Z', 'date'), '22 Nov')
  assert.equal(utcOf('2026-11-21T23:00:00.000Z'), '2026-11-21 23:00:00 UTC')
})

test('the hour that summer time leaves out is left out, and the one that it repeats is told apart in UTC', () => {
  assert.deepEqual(
    ['2026-03-29T00:59:59.000Z', '2026-03-29T01:00:00.000Z'].map((at) => written(at, 'time')),
    ['01:59:59', '03:00:00'],
  )
  const repeated = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']
  assert.deepEqual(
    repeated.map((at) => written(at)),
    ['25 Oct, 02:30', '25 Oct, 02:30'],
  )
  assert.deepEqual(repeated.map(utcOf), ['2026-10-25 00:30:00 UTC', '2026-10-25 01:30:00 UTC'])
})

test('the year that decides whether it is named is that of the reader', () => {
  assert.equal(written('2025-12-31T22:59:59.000Z', 'date'), '31 Dec 2025')
  assert.equal(written('2025-12-31T23:00:00.000Z', 'date'), '1 Jan')
})

test('a distance is in the largest unit that says enough, and never rounded up', () => {
  const ago = (ms: number) => writeTime(new Date(NOW_MS - ms).toISOString(), 'relative', NOW_MS)
  const HOUR_MS = 3_600_000
  assert.deepEqual([0, 59_999, 60_000, HOUR_MS - 1, HOUR_MS, 48 * HOUR_MS - 1, 48 * HOUR_MS].map(ago), [
    'just now',
    'just now',
    '1 min ago',
    '59 min ago',
    '1 hr ago',
    '47 hr ago',
    '2 days ago',
  ])
  assert.deepEqual([ago(-1), ago(-HOUR_MS)], ['in a moment', 'in 1 hr'])
})

test('the distance of any moment says on which side of now it is', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
      const words = writeTime(new Date(NOW_MS + ms).toISOString(), 'relative', NOW_MS)
      assert.match(words, ms > 0 ? /^in / : / ago$|^just now$/)
    }),
  )
})
