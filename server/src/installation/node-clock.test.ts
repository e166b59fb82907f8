import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeClock } from './node-clock.ts'

test('a clock that is wrong is corrected to the database’s, to within the uncertainty of the measurement', () => {
  const clock = new NodeClock(() => 1_000_000)
  clock.correct({ offsetMs: 3_000, uncertaintyMs: 2 })
  assert.equal(clock.nowMs(), 1_002_998)
  clock.correct({ offsetMs: -3_000, uncertaintyMs: 2 })
  assert.equal(clock.nowMs(), 997_002)
})

test('a measurement that agrees with the clock leaves it as it is, however uncertain it is', () => {
  const clock = new NodeClock(() => 1_000_000)
  clock.correct({ offsetMs: 400, uncertaintyMs: 500 })
  assert.equal(clock.nowMs(), 1_000_000)
})

test('the time is in whole milliseconds, as ids need it', () => {
  const clock = new NodeClock(() => 1_000_000)
  clock.correct({ offsetMs: 7.4, uncertaintyMs: 0.05 })
  assert.equal(clock.nowMs(), 1_000_007)
})
