import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, DatabaseError, quotedSchema } from '../database/database.ts'

/** One numbered step of a schema, applied once and never edited after a release. */
interface Migration {
  number: number
  name: string
  sql: string
  sha256: string
}

/** The two families of tables: one control schema, and one schema for each environment. */
export type MigrationFamily = 'control' | 'environment'

/** A newer or altered release migrated the schema; starting on it could damage the data. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

/** Nodes that start at the same moment queue for this advisory lock; any constant works if all releases share it. */
const ADVISORY_LOCK = 8_243_004_117

/** Applies the pending migrations of a schema in one transaction and returns their names; nodes may do so at once. */
export function migrate(database: Database, family: MigrationFamily): Promise<string[]> {
  const migrations = readMigrations(family)
  return database.transaction(async (transaction) => {
    await transaction.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK])
    await transaction.script(`CREATE SCHEMA IF NOT EXISTS ${quotedSchema(database.schema)};
      CREATE TABLE IF NOT EXISTS schema_migrations (
        number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)

    const pending = await pendingMigrations(transaction, migrations)
    for (const { number, name, sql, sha256 } of pending) {
      await transaction.script(sql)
      await transaction.query('INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, $2, $3)', [
        number,
        name,
        sha256,
      ])
    }
    return pending.map((migration) => migration.name)
  })
}

/** Whether no migration is pending, as on most starts; checked without a lock or a transaction. */
export async function isUpToDate(database: Database, family: MigrationFamily): Promise<boolean> {
  try {
    return (await pendingMigrations(database, readMigrations(family))).length === 0
  } catch (error) {
    if (error instanceof DatabaseError && error.isNotSetUp) return false
    throw error
  }
}

async function pendingMigrations(
  database: Pick<Database, 'query'>,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  const applied = await database.query<{ number: number; name: string; sha256: string }>(
    'SELECT number, name, sha256 FROM schema_migrations ORDER BY number',
  )
  for (const { number, name, sha256 } of applied) {
    const known = migrations.find((migration) => migration.number === number)
    if (!known)
      throw new MigrationRefused(
        `the database has migration ${name}, which this release does not know: start a newer release`,
      )
    if (known.sha256 !== sha256)
      throw new MigrationRefused(
        `migration ${name} differs from the one that was applied to this database: start the release that applied it`,
      )
  }
  return migrations.filter((migration) => !applied.some((row) => row.number === migration.number))
}

function readMigrations(family: MigrationFamily): Migration[] {
  const folder = join(import.meta.dirname, 'migrations', family)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = readFileSync(join(folder, file), 'utf8')
      return {
        number: Number.parseInt(file, 10),
        name: `${family}/${file.replace('.sql', '')}`,
        sql,
        sha256: hash('sha256', sql),
      }
    })
}
