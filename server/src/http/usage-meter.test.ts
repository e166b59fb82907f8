import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { Change, Committed } from '../store/write-path/change.ts'
import { UsageMeter } from './usage-meter.ts'

function meterOn(commit: (change: Change) => Promise<Committed>) {
  const errors: unknown[] = []
  const store = { commit, touchApiKeys: async () => {} }
  const nowMs = () => Date.parse('2026-11-15T09:30:00.000Z')
  return { meter: new UsageMeter({ store, nowMs, onError: (error) => errors.push(error) }), errors }
}

test('a flush writes one change for each organization, with all its counters', async () => {
  const changes: Change[] = []
  const { meter, errors } = meterOn(async (change) => {
    changes.push(change)
    return {}
  })
  meter.countRequest('org_a', false)
  meter.countRequest('org_a', true)
  meter.countRequest('org_b', false)
  await meter.close()
  const counts = changes.map(({ organizationId, usage = [] }) => [
    organizationId,
    ...usage.map(({ counter, count }) => `${counter} ${count}`),
  ])
  assert.deepEqual(counts, [
    ['org_a', 'requests 2', 'errors 1'],
    ['org_b', 'requests 1'],
  ])
  assert.deepEqual(errors, [])
})

test('a failed flush is reported once, and its counts are written by the next', async () => {
  let isAway = true
  let written = 0
  const { meter, errors } = meterOn(async ({ usage = [] }) => {
    if (isAway) throw new DatabaseUnavailable('connection refused')
    for (const { count } of usage) written += count
    return {}
  })
  for (let n = 0; n < 300; n++) meter.countRequest(`org_${n}`, true)
  await meter.flush()
  assert.equal(errors.length, 1)
  isAway = false
  await meter.close()
  assert.equal(written, 600)
})
