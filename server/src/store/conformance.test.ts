/** The guarantees of the store, on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { entityRow } from '../../tests/entity-row.ts'
import { testKeys } from '../../tests/test-keys.ts'
import { createTestStorage } from '../../tests/test-storage.ts'
import { readConfig } from '../config.ts'
import { DatabaseUnavailable } from './database/database.ts'
import { openEnvironmentStore } from './environment/environment-store.ts'
import { Lease } from './leases/lease.ts'
import type { NewRow } from './schema/tables.ts'
import { openStorage } from './storage.ts'
import { GroupCommit } from './write-path/group-commit.ts'
import type { AuditEntryRow, EventRow } from './write-path/record.ts'

/** No list of entries is sealed here. */
const NO_MAC = () => new Uint8Array()

const testStorage = await createTestStorage()
const storage = await openStorage(readConfig(testStorage.env))
await storage.migrate()
const database = storage.environments.sandbox
const store = openEnvironmentStore(database, testKeys)
after(async () => {
  await storage.close()
  await testStorage.remove()
})

const NOW = '2026-11-15T09:30:00.123Z'
const organizationId = 'org_a'

const entity = (id: string, changes?: Partial<NewRow<'entities'>>) => entityRow(id, NOW, changes)

function event(id: string): EventRow {
  return { id, type: 'webhook.test', created_at: NOW, data: '{}' }
}

function auditEntry(id: string, trailId = 'trail'): AuditEntryRow {
  return {
    id,
    trail_id: trailId,
    type: 'webhook.test',
    occurred_at: NOW,
    actor_type: 'system',
    actor_id: 'test',
    request_id: null,
    subject_type: 'test',
    subject_id: trailId,
    hashes: null,
    data: '{}',
    leaf_hash: '0'.repeat(64),
  }
}

async function count(table: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)
  return row!.n
}

/** What is read with an entity of which nothing but its own row was written. */
const NOT_COMPUTED = {
  graph: null,
  trust: null,
  exposed_at: null,
  merge_id: null,
  merged_at: null,
  offers: null,
  offers_version: null,
}

test('text, exact decimals, timestamps to the millisecond and nulls are read back as they were written', async () => {
  const text = `quotes ' " \\ braces {} commas , NULL \n tab\t emoji 😀 ${'x'.repeat(5000)}`
  await store.commit({
    organizationId,
    newEntities: [entity('ent_values', { display_name: text, metadata: JSON.stringify({ text }) })],
  })
  const row = await store.entities.find({ organizationId: 'org_a', id: 'ent_values' })
  const written = entity('ent_values', { display_name: text, metadata: JSON.stringify({ text }) })
  assert.deepEqual(row, { ...written, ...NOT_COMPUTED })
  const [types] = await database.query(
    'SELECT $1::numeric AS d, $2::bigint AS n, $3::date AS day, $4::timestamptz AS t, $5::double precision AS f',
    ['12345678901234.5678', 9007199254740991, '2026-02-28', NOW, 0.1],
  )
  assert.deepEqual(types, { d: '12345678901234.5678', n: 9007199254740991, day: '2026-02-28', t: NOW, f: 0.1 })
})

test('only a statement that keeps its plan is executed without being planned anew', async () => {
  const [kept, own] = ['SELECT $1::integer AS kept', 'SELECT $1::integer AS own']
  for (let n = 0; n < 3; n++) {
    await database.query(kept, [n], { keepPlan: true })
    await database.query(own, [n])
  }
  // Of the session that answers, which is the same as before: no other statement runs at the same time.
  const plansOf = async (sql: string, keepPlan: boolean) =>
    database.query(
      'SELECT custom_plans AS own, generic_plans AS kept FROM pg_prepared_statements WHERE statement = $1',
      [sql],
      { keepPlan },
    )
  assert.deepEqual(await plansOf(kept, true), [{ own: 0, kept: 3 }])
  assert.deepEqual(await plansOf(own, false), [{ own: 3, kept: 0 }])
})

test('changes committed at the same time each get their own result, and a change that lost writes nothing', async () => {
  const before = await count('events')
  const changes = Array.from({ length: 50 }, (_, n) =>
    store.commit({
      organizationId,
      newEntities: [entity(`ent_batch_${n % 40}`)],
      rows: { events: [event(`evt_batch_${n}`)] },
    }),
  )
  const results = await Promise.all(changes)
  assert.equal(results.filter(({ lost }) => lost === undefined).length, 40)
  assert.equal(results.filter(({ lost }) => lost === 'new_entity').length, 10)
  assert.equal(await count('events'), before + 40, 'changes that lost wrote nothing')
})

test('a change with an invalid row fails alone: changes committed with it are written', async () => {
  const bad = { ...event('evt_bad'), created_at: 'not a time' }
  const results = await Promise.allSettled([
    store.commit({ organizationId, rows: { events: [event('evt_good_1')] } }),
    store.commit({ organizationId, rows: { events: [bad] } }),
    store.commit({ organizationId, rows: { events: [event('evt_good_2')] } }),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  const written = await database.query("SELECT id FROM events WHERE id LIKE 'evt_good_%' ORDER BY id")
  assert.deepEqual(written, [{ id: 'evt_good_1' }, { id: 'evt_good_2' }])
})

test('a statement that the database did not answer is not retried, because it may have been written', async () => {
  let statements = 0
  const unavailable = {
    ...database,
    query: async () => {
      statements++
      throw new DatabaseUnavailable('the connection was lost')
    },
  }
  const writes = new GroupCommit(unavailable, NO_MAC)
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, (_, n) => writes.commit({ organizationId, rows: { events: [event(`evt_lost_${n}`)] } })),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    Array(5).fill('rejected'),
  )
  assert.equal(statements, 1)
})

test('when two writers change the same version of an entity, one wins and the other writes nothing', async () => {
  await store.commit({ organizationId, newEntities: [entity('ent_version')] })
  // Two queues on one database act as two nodes: neither sees the other's flush.
  const [here, there] = [new GroupCommit(database, NO_MAC), new GroupCommit(database, NO_MAC)]
  const next = entity('ent_version', { version: 2, state: '{"next":true}' })
  const results = await Promise.all([
    here.commit({ organizationId, changedEntities: [next], rows: { events: [event('evt_here')] } }),
    there.commit({ organizationId, changedEntities: [next], rows: { events: [event('evt_there')] } }),
  ])
  assert.deepEqual(results.map(({ lost }) => lost).sort(), ['entity_version', undefined])
  const [row] = await database.query("SELECT count(*) AS n FROM events WHERE id IN ('evt_here', 'evt_there')")
  assert.equal(row!.n, 1)
})

test('an unchanged state is read from the cache, and one that another node or a restored backup changed is read again', async () => {
  const sent: unknown[] = []
  const watched = {
    ...database,
    query: (async (sql: string, params?: readonly unknown[]) => {
      const rows = await database.query(sql, params)
      // The row as the database sent it: the store later fills in the state from its cache.
      for (const row of rows) if ('graph' in row) sent.push(row.state)
      return rows
    }) as typeof database.query,
  }
  const [here, there] = [openEnvironmentStore(watched, testKeys), openEnvironmentStore(database, testKeys)]
  const states = async () => {
    const [read] = await Promise.all(
      ['ent_state', 'ent_unknown'].map((id) => here.entities.find({ organizationId: 'org_a', id })),
    )
    return { state: read!.state, sent: sent.splice(0) }
  }
  const later = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString()

  await here.commit({ organizationId, newEntities: [entity('ent_state', { state: '{"n":1}' })] })
  assert.deepEqual(await states(), { state: '{"n":1}', sent: [null] })
  await here.commit({
    organizationId,
    changedEntities: [entity('ent_state', { state: '{"n":2}', version: 2, updated_at: later(1) })],
  })
  assert.deepEqual(await states(), { state: '{"n":2}', sent: [null] })

  await there.commit({
    organizationId,
    changedEntities: [entity('ent_state', { state: '{"n":3}', version: 3, updated_at: later(2) })],
  })
  assert.deepEqual(await states(), { state: '{"n":3}', sent: ['{"n":3}'] })
  assert.deepEqual(await states(), { state: '{"n":3}', sent: [null] })

  const lost = {
    organizationId,
    changedEntities: [entity('ent_state', { state: '{"n":"lost"}', version: 3, updated_at: later(3) })],
  }
  assert.deepEqual(await here.commit(lost), { lost: 'entity_version' })
  assert.deepEqual(await states(), { state: '{"n":3}', sent: [null] })

  await database.query('UPDATE entities SET state = \'{"n":"other"}\', updated_at = $1 WHERE id = \'ent_state\'', [
    later(4),
  ])
  assert.deepEqual(await states(), { state: '{"n":"other"}', sent: ['{"n":"other"}'] })
})

test('an entity that is requested twice at once is found twice, even if the cache evicts its state meanwhile', async () => {
  const here = openEnvironmentStore(database, testKeys)
  const large = (id: string) => entity(id, { state: JSON.stringify({ id, filler: 'x'.repeat(2 ** 20) }) })
  const others = [1, 2, 3, 4, 5, 6, 7].map((n) => `ent_other_${n}`)
  const later = [1, 2, 3, 4, 5, 6, 7].map((n) => `ent_later_${n}`)
  // In this order, assembling one batch evicts both halves of the cache: the first for `others[0]`, the second for `later`.
  for (const row of [...others, later[0]!].map(large)) await here.commit({ organizationId, newEntities: [row] })
  await here.commit({ organizationId, newEntities: [entity('ent_twice', { state: '{"twice":true}' })] })
  for (const row of later.slice(1).map(large)) await here.commit({ organizationId, newEntities: [row] })

  const requested = ['ent_twice', others[0]!, ...later, 'ent_twice']
  const found = await Promise.all(requested.map((id) => here.entities.find({ organizationId: 'org_a', id })))
  assert.deepEqual(
    found.map((row) => [row!.id, row!.state.length]),
    requested.map((id) => [id, id === 'ent_twice' ? '{"twice":true}'.length : large(id).state.length]),
  )
})

test('the entries of a trail are numbered 1, 2, 3 …, even when several nodes write to it at once', async () => {
  const queues = Array.from({ length: 4 }, () => new GroupCommit(database, NO_MAC))
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      queues[n % 4]!.commit({
        organizationId,
        auditEntries: [{ ...auditEntry(`aud_${String(n).padStart(26, '0')}`), mac: new Uint8Array() }],
      }),
    ),
  )
  const rows = await database.query<{ seq: number }>(
    "SELECT seq FROM audit_entries WHERE trail_id = 'trail' ORDER BY seq",
  )
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    Array.from({ length: 40 }, (_, n) => n + 1),
  )
})

test('entities requested at the same time are read by one query, and each request gets its own entity', async () => {
  let queries = 0
  const counted = {
    ...database,
    query: ((sql: string, params?: readonly unknown[]) => {
      queries++
      return database.query(sql, params)
    }) as typeof database.query,
  }
  const { find: readEntity } = openEnvironmentStore(counted, testKeys).entities
  const ids = Array.from({ length: 60 }, (_, n) => `ent_batch_${n}`)
  const found = await Promise.all(ids.map((id) => readEntity({ organizationId: 'org_a', id })))
  assert.equal(queries, 1)
  assert.deepEqual(
    found.map((row) => row?.id),
    ids.map((id, n) => (n < 40 ? id : undefined)),
  )
  assert.equal(
    await store.entities.find({ organizationId: 'org_b', id: 'ent_batch_0' }),
    undefined,
    'another organization does not find the id',
  )
})

test('usage counters of one day add up, within a batch and across batches', async () => {
  const use = (count: number) =>
    store.commit({ organizationId, usage: [{ day: '2026-11-15', node: 'n', counter: 'requests', count }] })
  await Promise.all([use(1), use(2), use(3)])
  await use(4)
  assert.deepEqual(await store.usage.byDay('org_a', '2026-11-01', '2026-11-30'), [
    { day: '2026-11-15', counter: 'requests', count: 10 },
  ])
})

test('one node holds a lease until the node releases it or it expires', async () => {
  const lease = (holder: string, seconds = 60) => new Lease(database, { name: 'job', holder, seconds })
  const [ours, theirs] = [lease('a'), lease('b')]
  assert.deepEqual([await ours.isHeld(), await theirs.isHeld()], [true, false])
  assert.deepEqual([await ours.isHeld(), await lease('a').isHeld()], [true, true], 'its holder renews it')
  await ours.release()
  assert.deepEqual([await theirs.isHeld(), await ours.isHeld()], [true, false])
  await theirs.release()
  assert.equal(await lease('b', 0).isHeld(), true)
  assert.equal(await ours.isHeld(), true, 'an expired lease is free')
  await ours.release()
  const short = lease('b', 0.02)
  assert.equal(await short.isHeld(), true)
  while (!(await ours.isHeld())); // until the database lets the lease expire
  assert.equal(await short.isHeld(), false, 'a node that lost its lease does not hold it')
})

test('a failed transaction writes nothing, and the connection keeps its schema', async () => {
  await assert.rejects(
    database.transaction(async (transaction) => {
      await transaction.query("INSERT INTO events VALUES ('o', 'evt_rolled_back', 't', now(), '{}')")
      throw new Error('roll back')
    }),
    /roll back/,
  )
  await assert.rejects(
    database.transaction((transaction) => transaction.query('SELECT 1 / 0')),
    /division by zero/,
  )
  assert.deepEqual(await database.query("SELECT 1 FROM events WHERE id = 'evt_rolled_back'"), [])
  assert.deepEqual(
    await storage.environments.production.query('SELECT id FROM entities'),
    [],
    'the other environment has no rows of this one',
  )
})
