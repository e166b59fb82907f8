/** What the tables promise, on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestStorage } from '../../../tests/test-storage.ts'
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

const APPEND_ONLY = [
  'audit_entries',
  'audit_flushes',
  'audit_heads',
  'audit_nodes',
  'case_notes',
  'case_signatures',
  'consents',
  'data_sources',
  'decisions',
  'entity_merges',
  'entity_steps',
  'feature_snapshots',
  'identity_links',
  'outcome_retractions',
  'outcomes',
  'policies',
  'policy_comments',
  'policy_steps',
  'reviews',
  'statement_balances',
  'transaction_corrections',
]

/** Values for the columns that take only certain texts; those of one table are named with it. */
const ALLOWED: Record<string, string> = {
  effect: 'merged',
  'entity_steps.effect': 'erased',
  kind: 'opening',
  provides: 'transactions',
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
     WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'`,
    [database.schema, table],
  )
  const values = columns.map(({ name, type }) => {
    if (LEFT_OUT.includes(name)) return 'NULL'
    if (type === 'text' || type === 'bytea') return `'${ALLOWED[`${table}.${name}`] ?? ALLOWED[name] ?? 'x'}'`
    if (type === 'ARRAY') return "'{x}'"
    if (type === 'date' || type.startsWith('timestamp')) return 'now()'
    return type === 'boolean' ? 'false' : '1'
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

test('a segment of documents may be written anew and deleted: upkeep packs small ones together', async () => {
  await insertAnyRow('document_segments')
  await database.query("UPDATE document_segments SET content = 'y'")
  await database.query('DELETE FROM document_segments')
  assert.deepEqual(await database.query('SELECT flush FROM document_segments'), [])
})

test('the database refuses to change an event or a backtest, and deletes one only by row, for its retention', async () => {
  for (const table of ['events', 'policy_backtests']) {
    await insertAnyRow(table)
    for (const sql of [`UPDATE ${table} SET org_id = org_id`, `TRUNCATE ${table}`])
      await assert.rejects(database.query(sql), /append-only/, sql)
    await database.query(`DELETE FROM ${table}`)
    assert.deepEqual(await database.query(`SELECT id FROM ${table}`), [])
  }
})

test('a transaction is unique for its entity, account and external id, also where no account is named', async () => {
  const insert = (account: string) =>
    database.query(
      `INSERT INTO transactions (org_id, entity_id, ${account && 'account,'} external_id, batch_id, occurred_at, amount, currency, direction)
       VALUES ('org_a', 'ent_a', ${account && `'${account}',`} 'one', 'txb_a', now(), 1, 'EUR', 'debit')`,
    )
  for (const account of ['', 'current', 'savings']) {
    await insert(account)
    await assert.rejects(
      insert(account),
      (error: unknown) => error instanceof DatabaseError && error.isUniqueViolation,
      account,
    )
  }
})

test('the database refuses any change of a list of audit entries, and any deletion of a sealed one', async () => {
  const refuse = async (sql: string) => assert.rejects(database.query(sql), /append-only/, sql)
  const sealed = (flush: number, firstLeaf: number) =>
    database.query(
      `INSERT INTO audit_flushes (org_id, flush, entry_ids, leaf_hashes, mac, first_leaf) VALUES ('org_a', $1, 'aud_a', '', '', $2)`,
      [flush, firstLeaf],
    )
  await database.query(
    `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac) VALUES ('org_a', 1, 'aud_a', '', '')`,
  )
  await sealed(1, 7)
  for (const table of ['audit_pending', 'audit_flushes'])
    for (const change of [
      `org_id = 'org_b'`,
      'flush = flush + 10',
      `entry_ids = 'aud_b'`,
      `leaf_hashes = decode('00', 'hex')`,
      `mac = decode('bb', 'hex')`,
    ])
      await refuse(`UPDATE ${table} SET ${change}`)
  for (const sql of ['UPDATE audit_flushes SET first_leaf = 8', 'DELETE FROM audit_flushes']) await refuse(sql)
  for (const table of ['audit_pending', 'audit_flushes']) await refuse(`TRUNCATE ${table}`)
  await assert.rejects(sealed(2, -1), /first_leaf_check/)
  const isUniqueViolation = (error: unknown) => error instanceof DatabaseError && error.isUniqueViolation
  for (const [flush, firstLeaf] of [
    [2, 7],
    [1, 8],
  ] as const)
    await assert.rejects(sealed(flush, firstLeaf), isUniqueViolation)
})
