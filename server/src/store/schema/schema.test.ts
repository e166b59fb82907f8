/** The schema of the databases: embedded and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createEmptyTestStorage, createTestStorage } from '../../../tests/test-storage.ts'
import { readConfig } from '../../config.ts'
import { DatabaseError } from '../database/database.ts'
import { openStorage } from '../storage.ts'
import { columnsOf, columnType, type TableName, tables } from './tables.ts'

const testStorage = await createTestStorage()
const storage = await openStorage(readConfig(testStorage.env))
await storage.migrate()
const database = storage.environments.sandbox
after(async () => {
  await storage.close()
  await testStorage.remove()
})

const APPEND_ONLY = [
  'audit_entries',
  'audit_heads',
  'audit_leaves',
  'audit_nodes',
  'case_notes',
  'consents',
  'decision_evidence',
  'decisions',
  'feature_snapshots',
  'identity_links',
  'outcome_retractions',
  'outcomes',
  'policies',
  'policy_backtests',
  'policy_comments',
  'policy_steps',
  'reviews',
]

/** Values for the columns that take only certain texts. */
const ALLOWED: Record<string, string> = {
  status: 'granted',
  step: 'proposed',
  verification_status: 'verified',
}
/** Columns of which only one may have a value. */
const LEFT_OUT = ['related_entity_id']

/** Inserts a row with some value in each column: the triggers against UPDATE and DELETE fire only where there is a row. */
async function insertAnyRow(table: string): Promise<void> {
  const columns = await database.query<{ name: string; type: string }>(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = $1 AND table_name = $2`,
    [database.schema, table],
  )
  const values = columns.map(({ name, type }) => {
    if (LEFT_OUT.includes(name)) return 'NULL'
    if (type === 'text') return `'${ALLOWED[name] ?? 'x'}'`
    return type === 'boolean' ? 'false' : type.startsWith('timestamp') ? 'now()' : '1'
  })
  await database.query(`INSERT INTO ${table} (${columns.map(({ name }) => name)}) VALUES (${values})`)
}

test('the database itself refuses to update, delete or truncate rows of an append-only table', async () => {
  const guarded = await database.query<{ name: string }>(
    `SELECT DISTINCT event_object_table::text AS name FROM information_schema.triggers
     WHERE trigger_schema = $1 AND trigger_name = 'append_only_rows' ORDER BY name`,
    [database.schema],
  )
  assert.deepEqual(
    guarded.map(({ name }) => name),
    APPEND_ONLY,
  )
  for (const table of APPEND_ONLY) {
    await insertAnyRow(table)
    for (const sql of [`UPDATE ${table} SET org_id = org_id`, `DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
      await assert.rejects(
        database.query(sql),
        (error: unknown) => error instanceof DatabaseError && /append-only/.test(error.message),
        sql,
      )
    }
  }
})

test('the database refuses to change an event, and deletes one only by row, for its retention', async () => {
  await insertAnyRow('events')
  for (const sql of ['UPDATE events SET org_id = org_id', 'TRUNCATE events'])
    await assert.rejects(database.query(sql), /append-only/, sql)
})

test('migrations that several nodes run at once are applied once', async () => {
  const empty = await createEmptyTestStorage()
  try {
    const config = readConfig(empty.env)
    // Only PostgreSQL can be opened twice; on the embedded database, all four runs share one handle.
    const first = await openStorage(config)
    const second = storage.embedded ? first : await openStorage(config)
    assert.deepEqual(
      await first.control.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'verdigraph%'"),
      [],
      'there is no schema yet',
    )
    const applied = (await Promise.all([first.migrate(), second.migrate(), first.migrate(), second.migrate()])).flat()
    assert.ok(applied.length > 0)
    assert.equal(new Set(applied).size, applied.length, 'each step is applied once')
    assert.deepEqual(await second.migrate(), [], 'no step is left')
    if (second !== first) await second.close()
    await first.close()
  } finally {
    await empty.remove()
  }
})

test('a database with an unknown or an edited migration is refused', async () => {
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

test('every table has the columns, types and nullability that tables.ts says', async () => {
  const stored = await database.query<{ table_name: string; column_name: string; type: string; nullable: boolean }>(
    `SELECT table_name, column_name, data_type AS type, is_nullable = 'YES' AS nullable
     FROM information_schema.columns WHERE table_schema = current_schema()`,
  )
  const described = new Map(
    stored.map(({ table_name, column_name, type, nullable }) => [`${table_name}.${column_name}`, { type, nullable }]),
  )
  for (const table of Object.keys(tables) as TableName[]) {
    for (const column of columnsOf(table)) {
      const { sqlType, isNullable } = columnType(table, column)
      const type = sqlType === 'timestamptz' ? 'timestamp with time zone' : sqlType
      assert.deepEqual(described.get(`${table}.${column}`), { type, nullable: isNullable }, `${table}.${column}`)
    }
  }
  const entityColumns = stored
    .filter(({ table_name }) => table_name === 'entities')
    .map(({ column_name }) => column_name)
  assert.deepEqual(entityColumns.sort(), columnsOf('entities').sort(), 'tables.ts has every column of an entity')
})
