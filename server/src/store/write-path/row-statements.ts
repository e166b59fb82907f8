import { columnsOf, insertRows, type Params, type RowOf, type TableName } from '../schema/tables.ts'

/** Sorts rows by key: statements that lock rows in the same order cannot deadlock. */
export function inOrder<T>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

/**
 * `INSERT` of first rows. One that is there already fails by its primary key: `ON CONFLICT` would write each row, and then that it
 * stays, into the write-ahead log.
 */
export function insertOnce<T extends 'idempotency_keys' | 'open_offers'>(
  table: T,
  rows: readonly RowOf<T>[],
  params: Params,
): string {
  return `${insertRows(table, rows, params)} RETURNING 1`
}

/** `INSERT … ON CONFLICT` of the last row of each key: PostgreSQL refuses to update a row twice in one statement. */
export function upsertRows<T extends TableName>(
  table: T,
  rows: readonly RowOf<T>[],
  params: Params,
  conflict: { key: readonly (keyof RowOf<T> & string)[]; set: string },
): string {
  const lastOfEachKey = new Map(rows.map((row) => [conflict.key.map((column) => row[column]).join(' '), row]))
  const ordered = inOrder([...lastOfEachKey.values()], (row) => conflict.key.map((column) => row[column]).join(' '))
  return `${insertRows(table, ordered, params)} ON CONFLICT (${conflict.key.join(', ')}) DO UPDATE SET ${conflict.set}`
}

/** The same for rows with a version: a row is written only after the version before. */
export function upsertVersions<T extends 'graph_track_records' | 'graph_claims' | 'open_offers'>(
  table: T,
  ...[rows, params, key]: [readonly RowOf<T>[], Params, keyof RowOf<T> & string]
): string {
  const columns = columnsOf(table).filter((column) => column !== 'org_id' && column !== key)
  const set = columns.map((column) => `${column} = excluded.${column}`).join(', ')
  return `${upsertRows(table, rows, params, { key: ['org_id' as keyof RowOf<T> & string, key], set })}
    WHERE ${table}.version = excluded.version - 1 RETURNING 1`
}
