import type { KeyObject } from 'node:crypto'
import type { Database, Queryable, Row } from '../database/database.ts'
import { type PowerTable, powerDefinition } from './power-tables.ts'
import { hasValidSeal, sealRow } from './row-mac.ts'

/** What changes of the rows of a table when the master key is rotated. */
export interface Resealing {
  current: KeyObject
  next: KeyObject
  /** Other columns that change with the key, such as a secret that is encrypted with it. */
  change?: (row: Row) => Row
}

/**
 * Gives the rows of a table that the current key authenticates a MAC of the next key, and returns how many. Other rows
 * stay as they are: a forged one is refused under the next key too, and an interrupted rotation has done its part.
 */
export async function resealRows(
  database: Database,
  table: PowerTable,
  { current, next, change = () => ({}) }: Resealing,
): Promise<number> {
  const rows = await database.query(`SELECT ${powerDefinition(table).columns.join(', ')}, entry_id, mac FROM ${table}`)
  let resealed = 0
  for (const row of rows.filter((stored) => hasValidSeal(current, table, stored))) {
    const changed = change(row)
    const { mac } = sealRow(next, table, { row: { ...row, ...changed }, entryId: String(row.entry_id) })
    if (await replaceSealed(database, table, { was: String(row.mac), change: { ...changed, mac } })) resealed += 1
  }
  return resealed
}

/** Changes columns of the row with a MAC, which covers the primary key: no two have the same. False if there is none. */
export async function replaceSealed(
  database: Queryable,
  table: PowerTable,
  { was, change }: { was: string; change: Row },
): Promise<boolean> {
  const columns = Object.entries(change)
  const replaced = await database.query(
    `UPDATE ${table} SET ${columns.map(([name], n) => `${name} = $${n + 2}`).join(', ')} WHERE mac = $1 RETURNING 1`,
    [was, ...columns.map(([, value]) => value)],
  )
  return replaced.length === 1
}
