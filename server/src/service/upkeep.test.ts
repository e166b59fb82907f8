import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestStorage } from '../../tests/test-storage.ts'
import { readConfig } from '../config.ts'
import { openEnvironmentStore } from '../store/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { openStorage } from '../store/storage.ts'
import { Upkeep } from './upkeep.ts'

const NOW_MS = Date.parse('2026-11-15T09:30:00.000Z')
const place = await createTestStorage()
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
const database = storage.environments.sandbox
const store = openEnvironmentStore(database)
after(async () => {
  await storage.close()
  await place.remove()
})

function openUpkeep(purgeKeptAnswers = store.purgeKeptAnswers): Upkeep {
  return new Upkeep({
    database,
    store: { purgeKeptAnswers },
    nowMs: () => NOW_MS,
    onError: (error) => assert.fail(String(error)),
  })
}

async function keepAnswer(key: string, createdAtMs: number): Promise<void> {
  const created_at = new Date(createdAtMs).toISOString()
  const answer = { route: 'POST /v1/underwrite', fingerprint: 'f', status: 201, body: '{}', created_at }
  await store.commit({ organizationId: 'org_a', idempotencyKey: { key, ...answer } })
}

async function keptKeys(): Promise<string[]> {
  return (await database.query<{ key: string }>('SELECT key FROM idempotency_keys ORDER BY key')).map(({ key }) => key)
}

test('upkeep deletes kept answers older than a day and keeps the younger ones', async () => {
  const upkeep = openUpkeep()
  await keepAnswer('old', NOW_MS - 25 * 3_600_000)
  await keepAnswer('young', NOW_MS - 23 * 3_600_000)
  await upkeep.purge()
  await upkeep.close()
  assert.deepEqual(await keptKeys(), ['young'])
})

test('upkeep deletes nothing while another node holds the lease', async () => {
  const other = new Lease(database, { name: 'upkeep', holder: 'node_other', seconds: 60 })
  assert.equal(await other.isHeld(), true)
  const upkeep = openUpkeep()
  await keepAnswer('old', NOW_MS - 25 * 3_600_000)
  await upkeep.purge()
  assert.deepEqual(await keptKeys(), ['old', 'young'])
  await other.release()
  await upkeep.purge()
  await upkeep.close()
  assert.deepEqual(await keptKeys(), ['young'])
})

test('closing stops a purge between two batches and releases the lease', async () => {
  let batches = 0
  const upkeep = openUpkeep(async () => {
    batches += 1
    if (batches === 2) void upkeep.close()
    return 5_000
  })
  await upkeep.purge()
  await upkeep.close()
  assert.equal(batches, 2)
  const next = new Lease(database, { name: 'upkeep', holder: 'node_next', seconds: 60 })
  assert.equal(await next.isHeld(), true)
  await next.release()
})
