import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { PgliteStatements } from './pglite-statements.ts'

const database = await PGlite.create()
const statements = new PgliteStatements(database)

async function preparedCount(): Promise<number> {
  const { rows } = await database.query<{ count: number }>('SELECT count(*) FROM pg_prepared_statements')
  return rows[0]!.count
}

test('a statement is prepared once, and every run returns its rows', async () => {
  for (const n of [1, 2, 3])
    assert.deepEqual(
      await statements.run('public', 'SELECT $1::integer AS n, $2::text AS t, $3::boolean[] AS b', [n, null, [true]]),
      [{ n, t: null, b: [true] }],
    )
  assert.equal(await preparedCount(), 1)
})

test('one SQL text is prepared separately for each schema', async () => {
  await database.exec('CREATE SCHEMA one; CREATE SCHEMA two; CREATE TABLE one.t (a int); CREATE TABLE two.t (b text)')
  for (const n of [1, 2]) {
    await database.exec('SET search_path = one')
    assert.deepEqual(await statements.run('one', 'INSERT INTO t VALUES ($1) RETURNING *', [n]), [{ a: n }])
    await database.exec('SET search_path = two')
    assert.deepEqual(await statements.run('two', 'INSERT INTO t VALUES ($1) RETURNING *', [`${n}`]), [{ b: `${n}` }])
  }
})

test('a statement that fails at parse, bind or execute rejects with its SQLSTATE, and the session stays usable', async () => {
  for (const [sql, params, code] of [
    ['SELEKT 1', [], '42601'],
    ['SELECT $1::integer', ['one'], '22P02'],
    ['SELECT $1::integer', [], '08P01'],
    ['SELECT 1 / $1::integer', [0], '22012'],
  ] as const) {
    await assert.rejects(statements.run('public', sql, params), { code })
    assert.deepEqual(await statements.run('public', 'SELECT 1 AS one', []), [{ one: 1 }])
  }
})

test('at most 500 statements stay prepared: the least recently used one is closed first', async () => {
  const namesOf = async (sql: string) =>
    (await database.query('SELECT name FROM pg_prepared_statements WHERE statement = $1', [sql])).rows
  await statements.run('public', 'SELECT 1 AS often', [])
  const names = await namesOf('SELECT 1 AS often')
  for (let n = 0; n < 600; n++) {
    await statements.run('public', `SELECT ${n} AS n`, [])
    await statements.run('public', 'SELECT 1 AS often', [])
  }
  assert.equal(await preparedCount(), 500)
  assert.deepEqual(await namesOf('SELECT 1 AS often'), names)
  assert.deepEqual(await namesOf('SELECT 0 AS n'), [])
})
