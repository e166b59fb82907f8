import type { Database, Row } from '../src/store/database/database.ts'

/** Which rows of a table are meant, by a condition in SQL on `$1`. */
export interface HiddenRows {
  table: string
  where: string
  key: string
}

/** Takes rows away while an act happens, and puts them back unchanged, as a person with SQL and no key can. */
export async function whileHidden<T>(
  database: Database,
  { table, where, key }: HiddenRows,
  act: () => Promise<T>,
): Promise<T> {
  const rows = await database.query(`DELETE FROM ${table} WHERE ${where} RETURNING *`, [key])
  if (rows.length === 0) throw new Error(`${table} has no row to hide`)
  const result = await act()
  for (const row of rows) await insertAsItWas(database, table, row)
  return result
}

async function insertAsItWas(database: Database, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row)
  const values = columns.map((_, index) => `$${index + 1}`)
  await database.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`, Object.values(row))
}
