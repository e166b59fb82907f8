/** Fills a table with many rows, for tests of what grows. */
import type { Database } from '../src/store/database/database.ts'

/** Adds rows by one statement. `columns` has SQL by column, in which `n` counts through the range; other columns get a plain value. */
export async function fillTable(
  database: Database,
  table: string,
  { range: [first, last], columns }: { range: readonly [number, number]; columns: Record<string, string> },
): Promise<void> {
  const known = await database.query<{ name: string; type: string; nullable: boolean }>(
    `SELECT column_name::text AS name, data_type::text AS type, is_nullable = 'YES' AS nullable
     FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'`,
    [database.schema, table],
  )
  const filled = known.flatMap(({ name, type, nullable }) => {
    const value = columns[name] ?? (nullable ? undefined : plainValue(type))
    return value === undefined ? [] : [{ name, value }]
  })
  await database.query(
    `INSERT INTO ${table} (${filled.map(({ name }) => name).join(', ')})
     SELECT ${filled.map(({ value }) => value).join(', ')} FROM generate_series(${first}, ${last}) AS n`,
  )
  // Autovacuum would do this a little later; until then the planner may assume a table of a few rows,
  // and index-only scans have to look at every row.
  await database.query(`VACUUM ANALYZE ${table}`)
}

function plainValue(type: string): string {
  if (type === 'timestamp with time zone') return "timestamptz '2026-11-15 09:00:00Z'"
  if (type === 'boolean') return 'false'
  if (type === 'integer' || type === 'bigint' || type === 'double precision') return '0'
  return "''"
}
