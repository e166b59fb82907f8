import { createHmac, type KeyObject } from 'node:crypto'
import type { Row } from '../database/database.ts'
import { type PowerTable, powerDefinition } from './power-tables.ts'

/** The columns that authenticate a row: the entry that made it so, and the MAC over both. */
export interface Seal {
  entry_id: string
  mac: string
}

/** Adds to a row that grants power the entry that makes it so, and its MAC. */
export function sealRow<R extends object>(
  key: KeyObject,
  table: PowerTable,
  { row, entryId }: { row: R; entryId: string },
): R & Seal {
  const sealed = { ...row, entry_id: entryId }
  return { ...sealed, mac: rowMac(key, table, sealed as Row) }
}

/** Whether this service wrote the row as it is stored now. */
export function hasValidSeal(key: KeyObject, table: PowerTable, row: Row): boolean {
  // Not compared in constant time: the forger writes rows and cannot time this comparison of a single byte.
  return rowMac(key, table, row) === row.mac
}

function rowMac(key: KeyObject, table: PowerTable, row: Row): string {
  const values = powerDefinition(table).columns.map((column) => row[column] ?? null)
  return createHmac('sha256', key)
    .update(JSON.stringify(['verdigraph.row.v1', table, row.entry_id, ...values]))
    .digest('hex')
}
