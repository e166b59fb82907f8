import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isoTime } from './database.ts'

test('a timestamp is read as ISO 8601 with milliseconds, however many digits PostgreSQL prints', () => {
  for (const [printed, iso] of [
    ['2026-11-15 02:45:39+00', '2026-11-15T02:45:39.000Z'],
    ['2026-11-15 02:45:39.1+00', '2026-11-15T02:45:39.100Z'],
    ['2026-11-15 02:45:39.12+00', '2026-11-15T02:45:39.120Z'],
    ['2026-11-15 02:45:39.123+00', '2026-11-15T02:45:39.123Z'],
    ['2026-11-15 02:45:39.123999+00', '2026-11-15T02:45:39.123Z'],
    ['0099-01-01 00:00:00+00', '0099-01-01T00:00:00.000Z'],
  ] as const) {
    assert.equal(isoTime(printed), iso)
  }
})

test('an infinite, BC or empty timestamp throws instead of being passed on', () => {
  for (const printed of ['infinity', '-infinity', '0001-01-01 00:00:00+00 BC', ''])
    assert.throws(() => isoTime(printed), RangeError, printed)
})
