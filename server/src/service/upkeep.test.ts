import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fillTable } from '../../tests/fill-table.ts'
import { testKeys } from '../../tests/test-keys.ts'
import { createTestStorage, onPostgres } from '../../tests/test-storage.ts'
import { until } from '../../tests/webhook-receiver.ts'
import { readConfig } from '../config.ts'
import { createNewId } from '../ids/new-id.ts'
import { deleteExpired, EXPIRING_TABLES } from '../store/control/expired-rows.ts'
import { openEnvironmentStore } from '../store/environment/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { openStorage } from '../store/storage.ts'
import { Upkeep, type UpkeepTask } from './upkeep.ts'
import { controlUpkeepTasks, upkeepTasks } from './upkeep-tasks.ts'

const DAY_MS = 24 * 3_600_000
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const NOW_MS = Date.parse('2026-11-15T09:30:00.000Z')
const place = await createTestStorage()
const { keepDays } = readConfig({})
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
const database = storage.environments.sandbox
const store = openEnvironmentStore(database, testKeys)
after(async () => {
  await storage.close()
  await place.remove()
})

const allTasks = () =>
  upkeepTasks({ store, database, newId: createNewId(() => NOW_MS), keepDays, isEmbedded: storage.embedded })
function openUpkeep(
  tasks: readonly UpkeepTask[] = allTasks(),
  onError: (error: unknown) => void = (error) => assert.fail(String(error)),
  onDone = () => {},
) {
  return new Upkeep({ database, tasks, nowMs: () => NOW_MS, onError, onDone })
}

async function keepAnswer(key: string, createdAtMs: number): Promise<void> {
  const created_at = new Date(createdAtMs).toISOString()
  const answer = { fingerprint: Buffer.from('f'), decision_id: null, status: 201, body: '{}', created_at }
  await store.commit({ organizationId: 'org_a', idempotencyKey: { key_hash: Buffer.from(key), ...answer } })
}

async function keptKeys(): Promise<string[]> {
  const rows = await database.query<{ key: string }>(
    "SELECT convert_from(key_hash, 'UTF8') AS key FROM idempotency_keys ORDER BY key_hash",
  )
  return rows.map(({ key }) => key)
}

test('upkeep deletes kept answers older than a day and keeps the younger ones', async () => {
  const upkeep = openUpkeep()
  await keepAnswer('old', NOW_MS - 25 * 3_600_000)
  await keepAnswer('young', NOW_MS - 23 * 3_600_000)
  await upkeep.run()
  await upkeep.close()
  assert.deepEqual(await keptKeys(), ['young'])
})

test('upkeep never deletes the key of a decision', async () => {
  const upkeep = openUpkeep()
  const created_at = new Date(NOW_MS - 10 * 365 * 86_400_000).toISOString()
  const pointer = { fingerprint: Buffer.from('f'), decision_id: 'dec_1', status: null, body: null, created_at }
  await store.commit({ organizationId: 'org_b', idempotencyKey: { key_hash: Buffer.from('decided'), ...pointer } })
  await upkeep.run()
  await upkeep.close()
  assert.deepEqual(await keptKeys(), ['decided', 'young'])
  await database.query("DELETE FROM idempotency_keys WHERE org_id = 'org_b'")
})

test('upkeep deletes leases that ended a day ago and leaves the others', async () => {
  await database.query(`INSERT INTO leases (name, holder, leased_until) VALUES
    ('act old', 'req_1', now() - interval '25 hours'), ('act young', 'req_2', now() - interval '23 hours')`)
  const upkeep = openUpkeep()
  await upkeep.run()
  const left = await database.query<{ name: string }>("SELECT name FROM leases WHERE name LIKE 'act %'")
  await upkeep.close()
  assert.deepEqual(left, [{ name: 'act young' }])
})

test('upkeep does nothing while another node holds the lease', async () => {
  const other = new Lease(database, { name: 'upkeep', holder: 'node_other', seconds: 60 })
  assert.equal(await other.isHeld(), true)
  const upkeep = openUpkeep()
  await keepAnswer('old', NOW_MS - 25 * 3_600_000)
  await upkeep.run()
  assert.deepEqual(await keptKeys(), ['old', 'young'])
  await other.release()
  await upkeep.run()
  await upkeep.close()
  assert.deepEqual(await keptKeys(), ['young'])
})

test('closing stops a task between two batches and releases the lease', async () => {
  let batches = 0
  const upkeep = openUpkeep([
    async () => {
      batches += 1
      if (batches === 2) void upkeep.close()
      return true
    },
  ])
  await upkeep.run()
  await upkeep.close()
  assert.equal(batches, 2)
  const next = new Lease(database, { name: 'upkeep', holder: 'node_next', seconds: 60 })
  assert.equal(await next.isHeld(), true)
  await next.release()
})

test('a task that fails is reported, the tasks after it run, and the round does not count as done', async () => {
  const reported: unknown[] = []
  let rounds = 0
  let fails = true
  let ran = 0
  const failing = async (): Promise<boolean> => {
    if (fails) throw new Error('broken')
    return false
  }
  const counting = async () => ++ran < 3
  const open = () =>
    openUpkeep(
      [failing, counting],
      (error) => reported.push(error),
      () => (rounds += 1),
    )
  const upkeep = open()
  await upkeep.run()
  assert.deepEqual([reported.length, ran, rounds], [1, 3, 0])
  fails = false
  await upkeep.run()
  assert.deepEqual([reported.length, ran, rounds], [1, 4, 1])
  const other = new Lease(database, { name: 'upkeep', holder: 'node_other', seconds: 60 })
  await upkeep.close()
  assert.equal(await other.isHeld(), true)
  await open().run()
  assert.deepEqual([ran, rounds], [4, 1], 'another node does the rounds')
  await other.release()
})

test('usage of past days becomes one row for each counter, however many processes wrote it, and its sums stay', async () => {
  const write = (node: string, day: string, count: number) =>
    store.commit({ organizationId: 'org_a', usage: [{ day, node, counter: 'requests', count }] })
  for (let start = 0; start < 20; start++) {
    await write(`node_${start}`, '2026-11-10', 5)
    await write(`node_${start}`, '2026-11-14', 1)
    await write(`node_${start}`, '2026-11-15', 2)
  }
  const rows = async () =>
    (
      await database.query<{ day: string; n: number }>(
        'SELECT day, count(*) AS n FROM usage_by_day GROUP BY day ORDER BY day',
      )
    ).map(({ day, n }) => [day, n])
  const sums = () => store.usage.byDay('org_a', '2026-11-01', '2026-11-30')
  const before = await sums()
  const upkeep = openUpkeep()
  await upkeep.run()
  const compacted = [
    ['2026-11-10', 1],
    ['2026-11-14', 20],
    ['2026-11-15', 20],
  ]
  assert.deepEqual(await rows(), compacted, 'a node may still write to yesterday')
  assert.deepEqual(await sums(), before)
  await write('node_late', '2026-11-10', 7)
  await upkeep.run()
  await upkeep.close()
  assert.deepEqual(await rows(), compacted)
  assert.equal((await sums()).find(({ day }) => day === '2026-11-10')!.count, 107)
})

test('figures of days are deleted after USAGE_KEEP_DAYS, whatever the number of organizations and batches', async () => {
  const organizations = 5
  const tables = ['usage_by_day', 'usage_by_key', 'decision_latencies']
  const [first, kept, today] = [NOW_MS - 1_500 * DAY_MS, NOW_MS - keepDays.usage * DAY_MS, NOW_MS].map(dayOf)
  await database.query('DELETE FROM usage_by_day')
  for (const values of [
    `usage_by_day (day, org_id, node, counter, count) SELECT day, org, 'all', 'requests', 1`,
    `usage_by_key (day, org_id, node, key_id, requests, errors, decisions, transactions) SELECT day, org, 'all', 'key_1', 1, 0, 0, 0`,
    `decision_latencies (day, org_id, node, hour, counts) SELECT day, org, 'all', 24, '{1}'`,
  ])
    await database.query(
      `INSERT INTO ${values} FROM generate_series($1::date, $2::date, '1 day') AS day,
         (SELECT 'org_' || n AS org FROM generate_series(1, $3::integer) AS n) AS organizations`,
      [first, today, organizations],
    )
  const rows = async () =>
    Promise.all(
      tables.map(async (table) => (await database.query(`SELECT min(day), count(*)::integer FROM ${table}`))[0]!),
    )
  const upkeep = openUpkeep()
  await upkeep.run()
  const left = { min: kept, count: organizations * (keepDays.usage + 1) }
  assert.deepEqual(await rows(), [left, left, left])
  await database.query(
    `INSERT INTO usage_by_day (day, org_id, node, counter, count) VALUES ($1, 'org_1', 'all', 'requests', 1)`,
    [first],
  )
  await upkeep.run()
  assert.deepEqual((await rows())[0], { min: first, count: left.count + 1 }, 'it looks once a day')
  await openUpkeep().run()
  await upkeep.close()
  assert.deepEqual((await rows())[0], left)
})

test('counts of attempts are deleted with the deliveries, in batches', async () => {
  await database.query(
    `INSERT INTO webhook_attempts_by_hour (org_id, endpoint_id, hour, node, delivered, failed)
     SELECT 'org_a', 'whe_' || n % 3, $1::timestamptz - make_interval(hours => n), 'node_a', 1, 0 FROM generate_series(0, 3000) AS n`,
    [new Date(NOW_MS).toISOString()],
  )
  const upkeep = openUpkeep()
  await upkeep.run()
  await upkeep.close()
  const [left] = await database.query<{ count: number; oldest: string }>(
    'SELECT count(*)::integer AS count, min(hour) AS oldest FROM webhook_attempts_by_hour',
  )
  const oldest = new Date(NOW_MS - keepDays.webhooks * DAY_MS).toISOString()
  assert.deepEqual(left, { count: keepDays.webhooks * 24 + 1, oldest })
})

test('trust scores are deleted that were replaced before TRUST_HISTORY_KEEP_DAYS, of every entity', async () => {
  const entities = 450
  await database.query(
    `INSERT INTO graph_exposures (org_id, entity_id, summary, trust, as_of, read_number)
     SELECT 'org_' || n % 2, 'ent_' || n, '{}', '{}', now(), 1 FROM generate_series(1, $1::integer) AS n`,
    [entities],
  )
  const ages = [0, 700, 729, 731, 740, 2_000].map((age) => age * DAY_MS)
  await database.query(
    `INSERT INTO trust_history (org_id, entity_id, day, score)
     SELECT org_id, entity_id, day, 0.5 FROM graph_exposures, unnest($1::date[]) AS day`,
    [ages.map((age) => dayOf(NOW_MS - age))],
  )
  await database.query(
    "UPDATE trust_history SET day = day + 1 WHERE (org_id, entity_id) = ('org_1', 'ent_3') AND day = $1",
    [dayOf(NOW_MS - 731 * DAY_MS)],
  )
  const upkeep = openUpkeep()
  await upkeep.run()
  await upkeep.close()
  const rows = await database.query<{ days: string; entities: number }>(
    `SELECT days, count(*)::integer AS entities FROM (
       SELECT string_agg(($1::date - day)::text, ' ' ORDER BY day DESC) AS days FROM trust_history GROUP BY org_id, entity_id) AS each
     GROUP BY days ORDER BY entities`,
    [dayOf(NOW_MS)],
  )
  assert.deepEqual(rows, [
    { days: '0 700 729 730', entities: 1 },
    { days: '0 700 729 731', entities: entities - 1 },
  ])
  await database.query('DELETE FROM graph_exposures')
})

test('what expired in the control database is deleted, in batches, and nothing that still counts', async () => {
  const { control } = storage
  const at = (ms: number) => `'${new Date(NOW_MS + ms).toISOString()}'::timestamptz`
  const ages: Record<string, number> = { sign_in_failures: 3_600_000, act_keys: DAY_MS, invitations: 30 * DAY_MS }
  const isOfOneRow = (table: string) => table === 'first_link'
  for (const { table, by } of EXPIRING_TABLES) {
    const endMs = -(ages[table] ?? 0)
    const unique = { id: `'id_' || n`, token_hash: `'token_' || n`, subject: `'subject_' || n`, key: `'key_' || n` }
    const columns = { ...unique, operator_id: `'opr_' || n`, ...(isOfOneRow(table) && { id: 'true' }) }
    const time = { [by]: `CASE WHEN n > 2 THEN ${at(endMs - 1)} ELSE ${at(endMs)} END` }
    const last = isOfOneRow(table) ? 3 : 2_500
    await fillTable(control, table, { range: [isOfOneRow(table) ? 3 : 1, last], columns: { ...columns, ...time } })
  }
  const run = async () => {
    for (const task of controlUpkeepTasks({ control, isEmbedded: storage.embedded })) while (await task(NOW_MS));
    const counts = EXPIRING_TABLES.map(async ({ table }): Promise<[string, number]> => {
      const [row] = await control.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`)
      return [table, row!.count]
    })
    return Object.fromEntries(await Promise.all(counts))
  }
  const left = Object.fromEntries(EXPIRING_TABLES.map(({ table }) => [table, isOfOneRow(table) ? 0 : 2]))
  assert.deepEqual(await run(), left)
})

test('a failure that is counted while old ones are deleted stays counted', {
  skip: !onPostgres && 'the embedded database has one connection',
}, async () => {
  const { control } = storage
  const old = new Date(NOW_MS - 2 * 3_600_000).toISOString()
  await control.query("INSERT INTO sign_in_failures (subject, failures, last_at) VALUES ('guessed', 4, $1)", [old])
  const failures = EXPIRING_TABLES.find(({ table }) => table === 'sign_in_failures')!
  let deleting: Promise<number> | undefined
  await control.transaction(async (transaction) => {
    const now = new Date(NOW_MS).toISOString()
    await transaction.query("UPDATE sign_in_failures SET failures = 5, last_at = $1 WHERE subject = 'guessed'", [now])
    deleting = deleteExpired(control, failures, { nowMs: NOW_MS, limit: 10 })
    const isWaiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM sign_in_failures%'`
    await until('the deletion waits for the row', async () => (await control.query(isWaiting)).length === 1)
  })
  assert.equal(await deleting, 0)
  const [row] = await control.query("SELECT failures FROM sign_in_failures WHERE subject = 'guessed'")
  assert.deepEqual(row, { failures: 5 })
})

test('the space of deleted rows is used again on the embedded database', {
  skip: onPostgres && 'a PostgreSQL server has autovacuum',
}, async () => {
  let hours = 0
  const upkeep = new Upkeep({
    database,
    tasks: allTasks(),
    nowMs: () => NOW_MS + hours * 3_600_000,
    onError: (error) => assert.fail(String(error)),
  })
  const sizes: number[] = []
  for (; hours < 6; hours++) {
    await database.query(
      `INSERT INTO consequences (org_id, kind, entity_id, mark) SELECT 'org_a', 'spread', 'ent_' || (n + $1 * 10000), 'm' FROM generate_series(1, 10000) AS n`,
      [hours],
    )
    await database.query('DELETE FROM consequences')
    await upkeep.run()
    const [row] = await database.query<{ size: number }>("SELECT pg_relation_size('consequences') AS size")
    sizes.push(row!.size)
  }
  await upkeep.close()
  // Each hour writes 640 KB, which stay for good without VACUUM.
  assert.ok(Math.max(...sizes) < 2 ** 20, sizes.join(' '))
})
