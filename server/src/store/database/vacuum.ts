/**
 * Upkeep of the embedded database, which has no background processes: without it, the space of deleted and replaced rows
 * is never used again (measured: 45,000 audit entries that were queued and sealed left 7 MB), and write-ahead logs are
 * kept for ever (321 MB after 400,000 rows). A PostgreSQL server does both by itself.
 */
import { type Database, quotedSchema } from './database.ts'

/** The tables whose rows are deleted or replaced. The others are append-only and have no space to use again. */
export async function tablesToVacuum(database: Database): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `SELECT class.relname AS name FROM pg_class AS class
     WHERE class.relnamespace = $1::regnamespace AND class.relkind = 'r'
       AND NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = class.oid AND tgname = 'append_only_rows')
     ORDER BY name`,
    [quotedSchema(database.schema)],
  )
  return tables.map(({ name }) => name)
}

/** Lets new rows use the space of deleted ones. It reads only pages that changed since the last time. */
export async function vacuum(database: Database, table: string): Promise<void> {
  await database.query(`VACUUM ${table}`)
}

/** Writes all changed pages to the files, after which old write-ahead logs are removed. Costs milliseconds when idle. */
export async function checkpoint(database: Database): Promise<void> {
  await database.query('CHECKPOINT')
}
