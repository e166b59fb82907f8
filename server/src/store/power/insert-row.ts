import type { Queryable } from '../database/database.ts'
import type { ControlPowerTable } from './control-database.ts'

/** Inserts a row of a table; false if there is one with the same key. The names of its columns are those of `row`. */
export async function insertRow(control: Queryable, table: ControlPowerTable, row: object): Promise<boolean> {
  const columns = Object.keys(row)
  const inserted = await control.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT DO NOTHING RETURNING 1`,
    Object.values(row),
  )
  return inserted.length === 1
}
