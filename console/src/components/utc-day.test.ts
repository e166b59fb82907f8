import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeUtcDay, writeUtcMonth } from './utc-day.ts'

const NOW_MS = Date.parse('2026-11-22T12:00:00.000Z')

test('a day is written as a person would, with its year only if that is another', () => {
  assert.deepEqual(
    [writeUtcDay('2026-11-22', false, NOW_MS), writeUtcDay('2025-11-22', false, NOW_MS)],
    ['22 Nov', '22 Nov 2025'],
  )
  assert.equal(writeUtcDay('2026-11-22T23:59:59.000Z', true, NOW_MS), 'Sun 22 Nov')
})

test('a month is written with its year in full, so that it cannot be taken for a day', () => {
  assert.deepEqual([writeUtcMonth('2026-11'), writeUtcMonth('2026-11', true)], ['Nov 2026', 'November 2026'])
})
