import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { PgliteStatements } from './pglite-statements.ts'

const database = await PGlite.create()
let nowMs = 0
const statements = new PgliteStatements(database, () => nowMs)
const run = (schema: string, sql: string, params: readonly unknown[]) => statements.run(schema, { sql, params })

async function preparedCount(): Promise<number> {
  const { rows } = await database.query<{ count: number }>('SELECT count(*) FROM pg_prepared_statements')
  return rows[0]!.count
}

test('a statement is prepared once, and every run returns its rows', async () => {
  for (const n of [1, 2, 3])
    assert.deepEqual(
      await run('public', 'SELECT $1::integer AS n, $2::text AS t, $3::boolean[] AS b', [n, null, [true]]),
      [{ n, t: null, b: [true] }],
    )
  assert.equal(await preparedCount(), 1)
})

test('one SQL text is prepared separately for each schema', async () => {
  await database.exec('CREATE SCHEMA one; CREATE SCHEMA two; CREATE TABLE one.t (a int); CREATE TABLE two.t (b text)')
  for (const n of [1, 2]) {
    await database.exec('SET search_path = one')
    assert.deepEqual(await run('one', 'INSERT INTO t VALUES ($1) RETURNING *', [n]), [{ a: n }])
    await database.exec('SET search_path = two')
    assert.deepEqual(await run('two', 'INSERT INTO t VALUES ($1) RETURNING *', [`${n}`]), [{ b: `${n}` }])
  }
})

test('a statement that fails at parse, bind or execute rejects with its SQLSTATE, and the session stays usable', async () => {
  for (const [sql, params, code] of [
    ['SELEKT 1', [], '42601'],
    ['SELECT $1::integer', ['one'], '22P02'],
    ['SELECT $1::integer', [], '08P01'],
    ['SELECT 1 / $1::integer', [0], '22012'],
  ] as const) {
    await assert.rejects(run('public', sql, params), { code })
    assert.deepEqual(await run('public', 'SELECT 1 AS one', []), [{ one: 1 }])
  }
})

test('at most 500 statements stay prepared: the least recently used one is closed first', async () => {
  const namesOf = async (sql: string) =>
    (await database.query('SELECT name FROM pg_prepared_statements WHERE statement = $1', [sql])).rows
  await run('public', 'SELECT 1 AS often', [])
  const names = await namesOf('SELECT 1 AS often')
  for (let n = 0; n < 600; n++) {
    await run('public', `SELECT ${n} AS n`, [])
    await run('public', 'SELECT 1 AS often', [])
  }
  assert.equal(await preparedCount(), 500)
  assert.deepEqual(await namesOf('SELECT 1 AS often'), names)
  assert.deepEqual(await namesOf('SELECT 0 AS n'), [])
})

/** How often PostgreSQL planned a statement anew and how often it used a kept plan, of all executions so far. */
async function plansOf(sql: string): Promise<{ own: number; kept: number }> {
  const { rows } = await database.query<{ own: number; kept: number }>(
    'SELECT custom_plans AS own, generic_plans AS kept FROM pg_prepared_statements WHERE statement = $1',
    [sql],
  )
  return rows[0]!
}

test('only a statement with keepPlan uses a kept plan, also after errors and rollbacks', async () => {
  const [keyed, other] = ['SELECT $1::integer AS keyed', 'SELECT $1::integer AS other']
  const runBoth = async () => {
    await statements.run('public', { sql: keyed, params: [1], keepPlan: true })
    await run('public', other, [1])
  }
  await runBoth()
  await assert.rejects(statements.run('public', { sql: 'SELECT 1 / $1::integer', params: [0], keepPlan: true }))
  await runBoth()
  await statements.script('BEGIN')
  await runBoth()
  await statements.run('public', { sql: keyed, params: [1], keepPlan: true })
  await assert.rejects(run('public', 'SELECT 1 / $1::integer', [0]))
  await assert.rejects(runBoth(), { code: '25P02' })
  await statements.script('ROLLBACK')
  await runBoth()
  await statements.script('BEGIN')
  await run('public', other, [1])
  await statements.script('ROLLBACK')
  await statements.run('public', { sql: keyed, params: [1], keepPlan: true })
  assert.deepEqual(await plansOf(keyed), { own: 0, kept: 6 })
  assert.deepEqual(await plansOf(other), { own: 5, kept: 0 })
})

test('a statement that is given more than a hundred rows gets a plan of its own', async () => {
  const sql = 'SELECT $1::integer AS given'
  for (const rows of [100, 101]) await statements.run('public', { sql, params: [1], rows, keepPlan: true })
  assert.deepEqual(await plansOf(sql), { own: 1, kept: 1 })
})

/** A table that grew after a look-up in it was planned, and whether the next look-up uses its index. */
async function grownTable(name: string): Promise<{ usesIndex: () => Promise<boolean> }> {
  await database.exec(`CREATE TABLE ${name} (id integer PRIMARY KEY, filler text); INSERT INTO ${name} VALUES (0)`)
  await database.exec(`VACUUM ${name}`)
  const sql = `SELECT FROM ${name} WHERE id = $1`
  const indexScans = async () => {
    await database.exec('SELECT pg_stat_force_next_flush()')
    const { rows } = await database.query<{ idx_scan: number }>(
      'SELECT idx_scan FROM pg_stat_user_tables WHERE relname = $1',
      [name],
    )
    return rows[0]!.idx_scan
  }
  const usesIndex = async () => {
    const before = await indexScans()
    await statements.run('public', { sql, params: [1], keepPlan: true })
    return (await indexScans()) > before
  }
  assert.equal(await usesIndex(), false)
  await database.exec(`INSERT INTO ${name} SELECT n, repeat('x', 500) FROM generate_series(1, 5000) AS n`)
  assert.equal(await usesIndex(), false)
  return { usesIndex }
}

test('a kept plan is made again after two seconds, for the table as it is then', async () => {
  nowMs += 2_000
  const { usesIndex } = await grownTable('grown_in_time')
  nowMs += 1_999
  assert.equal(await usesIndex(), false)
  nowMs += 1
  assert.equal(await usesIndex(), true)
})

test('a kept plan is made again once statements were given a thousand rows', async () => {
  nowMs += 2_000
  const { usesIndex } = await grownTable('grown_by_rows')
  await statements.run('public', { sql: 'SELECT 1', params: [], rows: 999 })
  assert.equal(await usesIndex(), false)
  await statements.run('public', { sql: 'SELECT 1', params: [], rows: 1 })
  assert.equal(await usesIndex(), true)
})

test('plans that a failed transaction could not discard are discarded after it', async () => {
  nowMs += 2_000
  const { usesIndex } = await grownTable('grown_in_failure')
  await statements.script('BEGIN')
  await assert.rejects(run('public', 'SELECT 1 / $1::integer', [0]))
  nowMs += 2_000
  await assert.rejects(statements.run('public', { sql: 'SELECT 2', params: [], keepPlan: true }))
  await statements.script('ROLLBACK')
  assert.equal(await usesIndex(), true)
})
