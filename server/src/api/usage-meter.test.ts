import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { Change, Committed } from '../store/write-path/change.ts'
import { UsageMeter } from './usage-meter.ts'

type Store = ConstructorParameters<typeof UsageMeter>[0]['store']

function meterOn(
  commit: (change: Change) => Promise<Committed>,
  others: Partial<Store> = {},
  nowMs = () => Date.parse('2026-11-15T09:30:00.000Z'),
) {
  const errors: unknown[] = []
  const nothing = async () => {}
  const store = {
    commit,
    apiKeys: { touch: nothing },
    usage: { addByKey: nothing },
    latencies: { add: nothing },
    ...others,
  }
  return { meter: new UsageMeter({ store, nowMs, onError: (error) => errors.push(error) }), errors }
}

function callerOf(organizationId: string) {
  return { organizationId, keyId: `key_of_${organizationId}` }
}

test('a flush writes one change for each organization, with all its counters', async () => {
  const changes: Change[] = []
  const { meter, errors } = meterOn(async (change) => {
    changes.push(change)
    return {}
  })
  meter.countRequest(callerOf('org_a'), 200)
  meter.countRequest(callerOf('org_a'), 429)
  meter.countRequest(callerOf('org_b'), 201)
  await meter.close()
  const counts = changes.map(({ organizationId, usage = [] }) => [
    organizationId,
    ...usage.map(({ counter, count }) => `${counter} ${count}`),
  ])
  assert.deepEqual(counts, [
    ['org_a', 'requests 2', 'errors 1', 'rate_limited 1'],
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
  for (let n = 0; n < 300; n++) meter.countRequest(callerOf(`org_${n}`), 400)
  await meter.flush()
  assert.equal(errors.length, 1)
  isAway = false
  await meter.close()
  assert.equal(written, 600)
})

test('counts of keys and latencies that could not be written are written once the database is back', async () => {
  let isAway = true
  const keys: unknown[] = []
  const latencies: unknown[] = []
  const refuse = () => {
    if (isAway) throw new DatabaseUnavailable('connection refused')
  }
  const { meter, errors } = meterOn(async () => ({}), {
    usage: {
      async addByKey(_, usages) {
        refuse()
        keys.push(...usages)
      },
    },
    latencies: {
      async add(_, histograms) {
        refuse()
        latencies.push(...histograms)
      },
    },
  })
  const caller = callerOf('org_a')
  const decide = () => {
    meter.countRequest(caller, 201)
    meter.countWritten(caller, [
      { day: '2026-11-15', counter: 'decisions', count: 1 },
      { day: '2026-11-15', counter: 'verdict.approve@09', count: 1 },
    ])
    meter.noteDecisionTime('org_a', 0.5)
  }
  decide()
  await meter.flush()
  decide()
  isAway = false
  await meter.close()
  assert.equal(errors.length, 1)
  const day = '2026-11-15'
  assert.deepEqual(keys, [{ ...caller, day, requests: 2, errors: 0, decisions: 2, transactions: 0 }])
  assert.deepEqual(latencies, [{ organizationId: 'org_a', day, hour: 9, counts: [0, 0, 0, 0, 0, 0, 0, 0, 2] }])
})

test('counts whose fate is unknown are not counted twice', async () => {
  let written = 0
  const { meter } = meterOn(async () => ({}), {
    usage: {
      async addByKey(_, usages) {
        written += usages[0]!.requests
        throw new DatabaseUnavailable('no answer', { endSession: async () => true })
      },
    },
  })
  meter.countRequest(callerOf('org_a'), 200)
  await meter.flush()
  await meter.close()
  assert.equal(written, 1)
})

test('a request counts for the day of its answer, also if the flush comes after midnight', async () => {
  const written: string[] = []
  let now = '2026-11-15T23:59:59.900Z'
  const commit = async ({ usage = [] }: Change) => {
    for (const { day, counter, count } of usage) written.push(`${day} ${counter} ${count}`)
    return {}
  }
  const hours: string[] = []
  const add: Store['latencies']['add'] = async (_, histograms) => {
    for (const { day, hour } of histograms) hours.push(`${day} ${hour}`)
  }
  const { meter, errors } = meterOn(commit, { latencies: { add } }, () => Date.parse(now))
  meter.countRequest(callerOf('org_a'), 200)
  meter.noteDecisionTime('org_a', 3)
  now = '2026-11-16T00:00:00.100Z'
  meter.countRequest(callerOf('org_a'), 200)
  meter.countRequest(callerOf('org_a'), 200)
  meter.noteDecisionTime('org_a', 3)
  await meter.close()
  assert.deepEqual(written, ['2026-11-15 requests 1', '2026-11-16 requests 2'])
  assert.deepEqual(hours, ['2026-11-15 23', '2026-11-16 0'])
  assert.deepEqual(errors, [])
})
