/** Columns of a table with their SQL types: `?` is nullable, `changeable` may differ in a later version of the row. */
export type Columns = Readonly<Record<string, ColumnType>>

type ColumnType = `${keyof ValueTypes}${'' | '?'}${'' | ' changeable'}`

/** The types of values by the SQL type of their column. */
export interface ValueTypes {
  text: string
  bytea: Uint8Array
  smallint: number
  integer: number
  bigint: number
  numeric: string
  'double precision': number
  timestamptz: string
  date: string
  boolean: boolean
}

/** A table that a change may insert rows into without a precondition; updates of its rows may have their own step. */
export function plain<const C extends Columns>(columns: C) {
  return { columns, isPlain: true } as const
}

/** A table that needs its own step of the batch statement: for a precondition, an upsert or a computed column. */
export function guarded<const C extends Columns>(columns: C) {
  return { columns, isPlain: false } as const
}
