/** What the rest of the program relies on, on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestStorage } from '../../tests/test-storage.ts'
import { readConfig } from '../config.ts'
import { DatabaseError, DatabaseUnavailable } from './database/database.ts'
import { openEnvironmentStore } from './environment-store.ts'
import { Lease } from './leases/lease.ts'
import type { RowOf } from './schema/tables.ts'
import { openStorage } from './storage.ts'
import { GroupCommit } from './write-path/group-commit.ts'

const place = await createTestStorage()
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
const database = storage.environments.sandbox
const store = openEnvironmentStore(database)
after(async () => {
  await storage.close()
  await place.remove()
})

const NOW = '2026-11-15T09:30:00.123Z'

function entity(id: string, changes: Partial<RowOf<'entities'>> = {}): RowOf<'entities'> {
  const blank = {
    type: null,
    display_name: null,
    country: null,
    metadata: '{}',
    state: '{}',
    version: 1,
    created_at: NOW,
    updated_at: NOW,
  }
  return { org_id: 'org_a', id, external_id: id, ...blank, ...changes }
}

function event(id: string): RowOf<'events'> {
  return { org_id: 'org_a', id, type: 'test', created_at: NOW, data: '{}' }
}

function auditEntry(id: string, trailId = 'trail'): RowOf<'audit_entries'> {
  return {
    org_id: 'org_a',
    id,
    trail_id: trailId,
    type: 'test',
    occurred_at: NOW,
    actor_type: 'system',
    actor_id: 'test',
    request_id: null,
    subject_type: 'test',
    subject_id: trailId,
    data: '{}',
    leaf_hash: '0'.repeat(64),
  }
}

async function count(table: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)
  return row!.n
}

test('values come back as they were written: text of every kind, exact decimals, times to the millisecond, nulls', async () => {
  const text = `quotes ' " \\ braces {} commas , NULL \n tab\t emoji 😀 ${'x'.repeat(5000)}`
  await store.commit({
    newEntities: [entity('ent_values', { display_name: text, metadata: JSON.stringify({ text }) })],
  })
  const row = await store.entity({ organizationId: 'org_a', id: 'ent_values' })
  const written = entity('ent_values', { display_name: text, metadata: JSON.stringify({ text }) })
  assert.deepEqual(row, { ...written, graph: null, trust: null })
  const [types] = await database.query(
    'SELECT $1::numeric AS d, $2::bigint AS n, $3::date AS day, $4::timestamptz AS t, $5::double precision AS f',
    ['12345678901234.5678', 9007199254740991, '2026-02-28', NOW, 0.1],
  )
  assert.deepEqual(types, { d: '12345678901234.5678', n: 9007199254740991, day: '2026-02-28', t: NOW, f: 0.1 })
})

test('changes that wait together are written together, and each is told its own fate', async () => {
  const before = await count('events')
  const changes = Array.from({ length: 50 }, (_, n) =>
    store.commit({ newEntities: [entity(`ent_batch_${n % 40}`)], rows: { events: [event(`evt_batch_${n}`)] } }),
  )
  const fates = await Promise.all(changes)
  assert.equal(fates.filter(({ lost }) => lost === undefined).length, 40)
  assert.equal(fates.filter(({ lost }) => lost === 'new_entity').length, 10)
  assert.equal(await count('events'), before + 40, 'what lost wrote nothing')
})

test('a change whose row is refused does not take its neighbours with it', async () => {
  const bad = { ...event('evt_bad'), created_at: 'not a time' }
  const results = await Promise.allSettled([
    store.commit({ rows: { events: [event('evt_good_1')] } }),
    store.commit({ rows: { events: [bad] } }),
    store.commit({ rows: { events: [event('evt_good_2')] } }),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('when the database does not answer, nothing is tried again: it may have been written', async () => {
  let statements = 0
  const silent = {
    ...database,
    query: async () => {
      statements++
      throw new DatabaseUnavailable('the connection was lost')
    },
  }
  const writes = new GroupCommit(silent)
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, (_, n) => writes.commit({ rows: { events: [event(`evt_lost_${n}`)] } })),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    Array(5).fill('rejected'),
  )
  assert.equal(statements, 1)
})

test('of two writers that read the same version, one wins and the other writes nothing', async () => {
  await store.commit({ newEntities: [entity('ent_version')] })
  // Two queues on one database stand for two nodes: neither knows of the other's flush.
  const [here, there] = [new GroupCommit(database), new GroupCommit(database)]
  const next = entity('ent_version', { version: 2, state: '{"next":true}' })
  const fates = await Promise.all([
    here.commit({ changedEntities: [next], rows: { events: [event('evt_here')] } }),
    there.commit({ changedEntities: [next], rows: { events: [event('evt_there')] } }),
  ])
  assert.deepEqual(fates.map(({ lost }) => lost).sort(), ['entity_version', undefined])
  const [row] = await database.query("SELECT count(*) AS n FROM events WHERE id IN ('evt_here', 'evt_there')")
  assert.equal(row!.n, 1)
})

test('a state is sent once, and again when it has changed: by this node, by another, or with the database set back', async () => {
  const sent: unknown[] = []
  const watched = {
    ...database,
    query: (async (sql: string, params?: readonly unknown[]) => {
      const rows = await database.query(sql, params)
      // As it was sent: the store fills in what it knows.
      for (const row of rows) if ('graph' in row) sent.push(row.state)
      return rows
    }) as typeof database.query,
  }
  const [here, there] = [openEnvironmentStore(watched), openEnvironmentStore(database)]
  const states = async () => {
    const [read] = await Promise.all(
      ['ent_state', 'ent_unknown'].map((id) => here.entity({ organizationId: 'org_a', id })),
    )
    return { state: read!.state, sent: sent.splice(0) }
  }
  const later = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString()

  await here.commit({ newEntities: [entity('ent_state', { state: '{"n":1}' })] })
  assert.deepEqual(await states(), { state: '{"n":1}', sent: [null] })
  await here.commit({ changedEntities: [entity('ent_state', { state: '{"n":2}', version: 2, updated_at: later(1) })] })
  assert.deepEqual(await states(), { state: '{"n":2}', sent: [null] })

  await there.commit({ changedEntities: [entity('ent_state', { state: '{"n":3}', version: 3, updated_at: later(2) })] })
  assert.deepEqual(await states(), { state: '{"n":3}', sent: ['{"n":3}'] })
  assert.deepEqual(await states(), { state: '{"n":3}', sent: [null] })

  const lost = { changedEntities: [entity('ent_state', { state: '{"n":"lost"}', version: 3, updated_at: later(3) })] }
  assert.deepEqual(await here.commit(lost), { lost: 'entity_version' })
  assert.deepEqual(await states(), { state: '{"n":3}', sent: [null] })

  await database.query('UPDATE entities SET state = \'{"n":"other"}\', updated_at = $1 WHERE id = \'ent_state\'', [
    later(4),
  ])
  assert.deepEqual(await states(), { state: '{"n":"other"}', sent: ['{"n":"other"}'] })
})

test('who is asked about twice at once is found twice, whatever is forgotten meanwhile', async () => {
  const here = openEnvironmentStore(database)
  const large = (id: string) => entity(id, { state: JSON.stringify({ id, filler: 'x'.repeat(2 ** 20) }) })
  const others = [1, 2, 3, 4, 5, 6, 7].map((n) => `ent_other_${n}`)
  const later = [1, 2, 3, 4, 5, 6, 7].map((n) => `ent_later_${n}`)
  // In this order, all that is remembered is turned over while one batch is put together: once for the first other, once for those that came later.
  for (const row of [...others, later[0]!].map(large)) await here.commit({ newEntities: [row] })
  await here.commit({ newEntities: [entity('ent_twice', { state: '{"twice":true}' })] })
  for (const row of later.slice(1).map(large)) await here.commit({ newEntities: [row] })

  const asked = ['ent_twice', others[0]!, ...later, 'ent_twice']
  const found = await Promise.all(asked.map((id) => here.entity({ organizationId: 'org_a', id })))
  assert.deepEqual(
    found.map((row) => [row!.id, row!.state.length]),
    asked.map((id) => [id, id === 'ent_twice' ? '{"twice":true}'.length : large(id).state.length]),
  )
})

test('places on a trail are 1, 2, 3 …, also when several nodes write to it at once', async () => {
  const queues = Array.from({ length: 4 }, () => new GroupCommit(database))
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => queues[n % 4]!.commit({ auditEntries: [auditEntry(`aud_trail_${n}`)] })),
  )
  const rows = await database.query<{ seq: number }>(
    "SELECT seq FROM audit_entries WHERE trail_id = 'trail' ORDER BY seq",
  )
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    Array.from({ length: 40 }, (_, n) => n + 1),
  )
})

test('reads that wait together share a query, and each gets its own answer', async () => {
  const ids = Array.from({ length: 60 }, (_, n) => `ent_batch_${n}`)
  const found = await Promise.all(ids.map((id) => store.entity({ organizationId: 'org_a', id })))
  assert.deepEqual(
    found.map((row) => row?.id),
    ids.map((id, n) => (n < 40 ? id : undefined)),
  )
  assert.equal(
    await store.entity({ organizationId: 'org_b', id: 'ent_batch_0' }),
    undefined,
    'ids of another organization are unknown',
  )
})

test('counters of one day add up, within a batch and across batches', async () => {
  const use = (count: number) =>
    store.commit({ usage: [{ org_id: 'org_a', day: '2026-11-15', node: 'n', counter: 'requests', count }] })
  await Promise.all([use(1), use(2), use(3)])
  await use(4)
  assert.deepEqual(await store.usageByDay('org_a', '2026-11-01', '2026-11-30'), [
    { day: '2026-11-15', counter: 'requests', count: 10 },
  ])
})

const APPEND_ONLY = [
  'consents',
  'feature_snapshots',
  'events',
  'audit_entries',
  'audit_leaves',
  'audit_nodes',
  'audit_heads',
]

test('append-only tables refuse to be changed by the database itself', async () => {
  const columns = {
    consents: 'status',
    feature_snapshots: 'source',
    events: 'type',
    audit_entries: 'type',
    audit_leaves: 'leaf_hash',
    audit_nodes: 'hash',
    audit_heads: 'root_hash',
  }
  await database.query(
    `INSERT INTO consents VALUES ('o','c','e','p','granted','[]',now(),null,null,null,null,null,now())`,
  )
  await database.query(`INSERT INTO feature_snapshots VALUES ('o','f','e','s',now(),'{}','h',now())`)
  await database.query(`INSERT INTO audit_leaves VALUES ('o',0,'e','h')`)
  await database.query(`INSERT INTO audit_nodes VALUES ('o',1,0,'h')`)
  await database.query(`INSERT INTO audit_heads VALUES ('o',1,'r',now(),'k','s')`)
  for (const table of APPEND_ONLY) {
    const column = columns[table as keyof typeof columns]
    for (const sql of [`UPDATE ${table} SET ${column} = 'x'`, `DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
      await assert.rejects(
        database.query(sql),
        (error: unknown) => error instanceof DatabaseError && /append-only/.test(error.message),
        sql,
      )
    }
  }
})

test('a lease is held by one node until it is given back or runs out', async () => {
  const lease = (holder: string, seconds = 60) => new Lease(database, { name: 'job', holder, seconds })
  const [ours, theirs] = [lease('a'), lease('b')]
  assert.deepEqual([await ours.isHeld(), await theirs.isHeld()], [true, false])
  assert.deepEqual([await ours.isHeld(), await lease('a').isHeld()], [true, true], 'its holder may renew it')
  await ours.release()
  assert.deepEqual([await theirs.isHeld(), await ours.isHeld()], [true, false])
  await theirs.release()
  assert.equal(await lease('b', 0).isHeld(), true)
  assert.equal(await ours.isHeld(), true, 'a lease that ran out is free')
  await ours.release()
  const short = lease('b', 0.02)
  assert.equal(await short.isHeld(), true)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual([await ours.isHeld(), await short.isHeld()], [true, false], 'who lost it does not go on believing')
})

test('a transaction that fails leaves nothing behind, and the schema stays the same afterwards', async () => {
  await assert.rejects(
    database.transaction(async (transaction) => {
      await transaction.query("INSERT INTO events VALUES ('o', 'evt_rolled_back', 't', now(), '{}')")
      throw new Error('changed my mind')
    }),
  )
  await assert.rejects(
    database.transaction((transaction) => transaction.query('SELECT 1 / 0')),
    /division by zero/,
  )
  assert.deepEqual(await database.query("SELECT 1 FROM events WHERE id = 'evt_rolled_back'"), [])
  assert.deepEqual(
    await storage.environments.production.query('SELECT id FROM entities'),
    [],
    'production sees none of it',
  )
})

test('migrations at the same moment, by several nodes, are applied once', async () => {
  const fresh = await createTestStorage()
  try {
    const config = readConfig(fresh.env)
    // Only PostgreSQL can be opened twice; the embedded database is asked twice through one handle.
    const first = await openStorage(config)
    const second = storage.embedded ? first : await openStorage(config)
    if (!storage.embedded)
      assert.deepEqual(
        await first.control.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'verdigraph%'"),
        [],
      )
    const applied = (await Promise.all([first.migrate(), second.migrate(), first.migrate(), second.migrate()])).flat()
    assert.equal(new Set(applied).size, applied.length, 'each step once')
    if (!storage.embedded) assert.ok(applied.length > 0)
    assert.deepEqual(await second.migrate(), [], 'and then no more')
    if (second !== first) await second.close()
    await first.close()
  } finally {
    await fresh.remove()
  }
})

test('a database of a newer release, or one whose migrations were edited, is left alone', async () => {
  await storage.control.query(
    "INSERT INTO schema_migrations (number, name, sha256) VALUES (999, 'control/999-future', 'x')",
  )
  await assert.rejects(storage.migrate(), /999-future, which this release does not know/)
  await storage.control.query('DELETE FROM schema_migrations WHERE number = 999')
  const [row] = await storage.control.query(
    "UPDATE schema_migrations SET sha256 = 'edited' WHERE number = 1 RETURNING name",
  )
  await assert.rejects(storage.migrate(), new RegExp(`${row!.name} differs`))
})
