import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'

// Formats take the zone of the process when their module is loaded, as a page takes that of its reader.
process.env.TZ = 'Europe/Berlin'
const { dayBefore, dayOr, startOfUtcDay, writeHour, writeUtcDay, writeUtcMonth } = await import('./utc-day.ts')

const NOW_MS = Date.parse('2026-11-22T12:00:00.000Z')

test('a day is written as a person would, with its year only if that is another', () => {
  assert.deepEqual(
    [writeUtcDay('2026-11-22', false, NOW_MS), writeUtcDay('2025-11-22', false, NOW_MS)],
    ['22 Nov', '22 Nov 2025'],
  )
  assert.equal(writeUtcDay('2026-11-22T23:59:59.000Z', true, NOW_MS), 'Sun 22 Nov')
})

test('a day and its year are counted in UTC, wherever the reader is', () => {
  assert.equal(writeUtcDay('2026-11-22T23:30:00.000Z', false, NOW_MS), '22 Nov')
  const newYear = Date.parse('2026-12-31T23:30:00.000Z')
  assert.equal(writeUtcDay('2026-12-31', false, newYear), '31 Dec')
})

test('a month is written with its year in full, so that it cannot be taken for a day', () => {
  assert.deepEqual([writeUtcMonth('2026-11'), writeUtcMonth('2026-11', true)], ['Nov 2026', 'November 2026'])
})

test('an hour is written in the zone of the reader, over the change to summer time as well', () => {
  assert.deepEqual(
    ['2026-03-29T00:00:00.000Z', '2026-03-29T01:00:00.000Z'].map((at) => writeHour(at)),
    ['01:00', '03:00'],
  )
  assert.equal(writeHour('2026-03-28T23:00:00.000Z', true), 'Sun 00:00')
})

test('days are counted over leap days and the change to summer time', () => {
  assert.deepEqual(
    [dayBefore('2026-03-30', 1), dayBefore('2026-10-26', 1), dayBefore('2024-03-01', 1), dayBefore('2026-01-01', 1)],
    ['2026-03-29', '2026-10-25', '2024-02-29', '2025-12-31'],
  )
  const days = fc.date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(days, fc.integer({ min: -5_000, max: 5_000 }), (date, count) => {
      const day = date.toISOString().slice(0, 10)
      assert.equal(dayBefore(dayBefore(day, count), -count), day)
    }),
  )
})

test('a filter takes in the whole of its last day, and leaves alone what is no day', () => {
  assert.deepEqual(
    [startOfUtcDay('2026-12-31', 0), startOfUtcDay('2026-12-31', 1)],
    ['2026-12-31T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  )
  assert.deepEqual([startOfUtcDay('soon', 1), startOfUtcDay('2026-13-01', 1)], ['soon', '2026-13-01'])
  assert.deepEqual([dayOr(undefined, '2026-01-01'), dayOr('2026-1-1', '2026-01-01')], ['2026-01-01', '2026-01-01'])
})
