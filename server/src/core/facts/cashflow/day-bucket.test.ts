import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DayBucket, newDay, packDay, unpackDay } from './day-bucket.ts'

test('a day is kept without the zeros and empty lists at its end', () => {
  assert.deepEqual(packDay(newDay(7)), [7, 0, [], []])
  assert.deepEqual(packDay({ ...newDay(7), debitCount: 2 }), [7, 0, [], [], 2])
})

test('a day is read as it was kept, with zeros or without', () => {
  assert.deepEqual(unpackDay([7, 0, [], []]), newDay(7))
  const names = Object.keys(newDay(7)) as (keyof DayBucket)[]
  const full = Object.fromEntries(names.map((name, index) => [name, 100 + index])) as unknown as DayBucket
  assert.deepEqual(unpackDay(packDay(full)), full)
})
