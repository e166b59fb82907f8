/** Upkeep costs what is old, however much there is beside it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { createNewId, lowestIdAt } from '../src/ids/new-id.ts'
import { controlUpkeepTasks, upkeepTasks } from '../src/service/upkeep-tasks.ts'
import { EXPIRING_TABLES } from '../src/store/control/expired-rows.ts'
import type { Database } from '../src/store/database/database.ts'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import { openStorage } from '../src/store/storage.ts'
import { fillTable } from './fill-table.ts'
import { rowsTouched } from './rows-touched.ts'
import { testKeys } from './test-keys.ts'
import { createTestStorage } from './test-storage.ts'

const DAY_MS = 24 * 3_600_000
const NOW_MS = Date.parse('2026-11-15T09:30:00.000Z')
const ROWS = 20_000
/** Of every table, the first rows are old. */
const OLD = 200
const ORGANIZATIONS = 20
const config = readConfig({})
const { keepDays } = config
const place = await createTestStorage()
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
after(async () => {
  await storage.close()
  await place.remove()
})
const { sandbox } = storage.environments
const { control } = storage

/** SQL: a time before what is kept for so many days, in the first rows, and of today in the others. */
const time = (days: number) =>
  `timestamptz '${new Date(NOW_MS).toISOString()}' - make_interval(days => CASE WHEN n <= ${OLD} THEN ${days + 1} ELSE 0 END)`
const day = (days: number) =>
  `date '${new Date(NOW_MS).toISOString().slice(0, 10)}' - CASE WHEN n <= ${OLD} THEN ${days} + 1 + n / ${ORGANIZATIONS} ELSE (n / ${ORGANIZATIONS}) % ${days} END::integer`
/** SQL: the id of row `n`, as old as the row. */
const id = (prefix: 'evt' | 'bkt', days: number) => {
  const [old, recent] = [NOW_MS - (days + 2) * DAY_MS, NOW_MS].map((ms) => lowestIdAt(prefix, ms).slice(0, 16))
  return `CASE WHEN n <= ${OLD} THEN '${old}' ELSE '${recent}' END || lpad(n::text, 14, '0')`
}
const SHARED = { org_id: `'org_' || n % ${ORGANIZATIONS}`, node: "'all'" }
const TENTH = '(n - 1) / 10 + 1'
const FILLED: Record<string, Record<string, string>> = {
  idempotency_keys: {
    key_hash: 'sha256(n::text::bytea)',
    created_at: time(1),
    status: 'CASE WHEN n % 4 = 0 OR n <= 200 THEN 201 END',
    body: "CASE WHEN n % 4 = 0 OR n <= 200 THEN '{}' END",
    decision_id: "CASE WHEN n % 4 <> 0 AND n > 200 THEN 'dec_' || n END",
  },
  webhook_endpoints: { id: "'whe_1'", state: "'enabled'", org_id: "'org_' || n" },
  webhook_deliveries: {
    endpoint_id: "'whe_1'",
    event_id: id('evt', keepDays.webhooks),
    state: "'delivered'",
    due_at: time(keepDays.webhooks),
    attempts: '1',
  },
  webhook_attempts: { endpoint_id: "'whe_1'", event_id: id('evt', keepDays.webhooks), number: '1' },
  webhook_attempts_by_hour: { endpoint_id: "'whe_' || n", hour: time(keepDays.webhooks) },
  events: { id: id('evt', keepDays.webhooks) },
  usage_by_day: { day: day(keepDays.usage), counter: "'counter_' || n" },
  usage_by_key: { day: day(keepDays.usage), key_id: "'key_' || n" },
  decision_latencies: { day: day(keepDays.usage), hour: '24', counts: "'{1}'" },
  graph_exposures: { entity_id: "'ent_' || n", as_of: 'now()' },
  trust_history: {
    entity_id: `'ent_' || ${TENTH}`,
    org_id: `'org_' || (${TENTH}) % ${ORGANIZATIONS}`,
    day: `date '2026-11-15' - (n % 10) * 100`,
  },
  policies: { id: `'pol_' || n % ${ORGANIZATIONS}`, version: "'v' || n" },
  policy_backtests: { id: id('bkt', keepDays.backtests), policy_id: `'pol_' || n % ${ORGANIZATIONS}`, result: "'{}'" },
}
/** Tables with another number of rows. Of a small table, reading all of it is cheaper than the attempts of 200 deliveries by key. */
const SIZES: Record<string, number> = {
  webhook_endpoints: ORGANIZATIONS,
  policies: ORGANIZATIONS,
  webhook_attempts: 5 * ROWS,
}
for (const [table, columns] of Object.entries(FILLED))
  await fillTable(sandbox, table, { range: [1, SIZES[table] ?? ROWS], columns: { ...SHARED, ...columns } })
const EXPIRING = EXPIRING_TABLES.filter(({ table }) => table !== 'first_link')
for (const { table, by, keptMs } of EXPIRING) {
  const unique = { id: `'id_' || n`, token_hash: `'token_' || n`, subject: `'subject_' || n`, key: `'key_' || n` }
  const columns = { ...unique, operator_id: `'opr_' || n`, [by]: time(Math.ceil(keptMs / DAY_MS)) }
  await fillTable(control, table, { range: [1, ROWS], columns })
}

/** A database that notes which statements read a large table as a whole; plans are of the moment before each runs. */
function watched(database: Database, wholes: string[], counted: { statements: number }): Database {
  const query: Database['query'] = async (sql, params = [], options) => {
    if (/^\s*(SELECT|WITH|DELETE|UPDATE)/.test(sql)) {
      counted.statements += 1
      for (const { table, rows } of await rowsTouched(database, sql, params, { undoes: true }))
        if (rows > ROWS / 2) wholes.push(`${rows} rows of ${table}: ${sql}`)
    }
    return database.query(sql, params, options)
  }
  return new Proxy(database, { get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)) })
}

test('no statement of upkeep reads a table as a whole, and every one of them deletes what is old', async () => {
  const wholes: string[] = []
  const counted = { statements: 0 }
  const database = watched(sandbox, wholes, counted)
  const store = openEnvironmentStore(database, testKeys)
  const tasks = [
    ...upkeepTasks({ store, database, newId: createNewId(() => NOW_MS), keepDays, isEmbedded: false }),
    ...controlUpkeepTasks({ control: watched(control, wholes, counted), isEmbedded: false }),
  ]
  for (const task of tasks) while (await task(NOW_MS));
  assert.deepEqual(wholes, [])
  assert.ok(counted.statements > 30, `${counted.statements} statements`)
  const deleted = async (of: Database, table: string, size = ROWS) => {
    const [row] = await of.query<{ rows: number }>(`SELECT count(*)::integer AS rows FROM ${table}`)
    return [table, size - row!.rows]
  }
  const expected: Record<string, number> = {
    webhook_endpoints: 0,
    policies: 0,
    graph_exposures: 0,
    // Of ten scores of each entity, that of 900 days ago was replaced by one of 800 days ago, which is kept.
    trust_history: ROWS / 10,
  }
  for (const table of Object.keys(FILLED))
    assert.deepEqual(await deleted(sandbox, table, SIZES[table]), [table, expected[table] ?? OLD])
  for (const { table } of EXPIRING) assert.deepEqual(await deleted(control, table), [table, OLD])
})
