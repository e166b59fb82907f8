import type { Database } from '../src/store/database/database.ts'

/**
 * Changes rows of an append-only table, as a database administrator could: with the triggers of the table disabled.
 * `sql` is one UPDATE, DELETE or TRUNCATE.
 */
export async function tamper(database: Database, sql: string, params: readonly unknown[]): Promise<void> {
  const table = /^(?:UPDATE|DELETE FROM|TRUNCATE) (\w+)/.exec(sql)?.[1]
  if (!table) throw new Error(`not an UPDATE, DELETE or TRUNCATE: ${sql}`)
  await database.transaction(async (transaction) => {
    await transaction.script(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
    await transaction.query(sql, params)
    await transaction.script(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
  })
}
