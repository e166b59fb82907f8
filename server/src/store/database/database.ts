/** One row as the drivers return it: times as ISO 8601 UTC text, 64-bit integers as numbers, exact decimals as text. */
export type Row = Record<string, unknown>

/** Runs single statements; each is a transaction of its own. */
export interface Queryable {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[]): Promise<R[]>
}

/** What runs inside an interactive transaction: statements, and scripts of several statements without parameters. */
export interface Transaction extends Queryable {
  script(sql: string): Promise<void>
}

/**
 * A handle on one schema of one database: the whole of what the rest of the program knows about storage.
 * Hot paths write with one statement per batch, so the only interactive transactions are rare ones (migrations).
 */
export interface Database extends Queryable {
  readonly schema: string
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** The same server, looking at another schema. */
  inSchema(schema: string): Database
  close(): Promise<void>
}

/** The database answered with an error; `code` is the SQLSTATE. The message may hold SQL and stays on the server. */
export class DatabaseError extends Error {
  override name = 'DatabaseError'
  readonly code: string
  readonly constraint: string | undefined

  constructor(
    message: string,
    { code, constraint, cause }: { code: string; constraint?: string | undefined; cause?: unknown },
  ) {
    super(message, { cause })
    this.code = code
    this.constraint = constraint
  }

  /** A deadlock or a serialization failure: nothing was written and the same work may be tried again. */
  get isTransient(): boolean {
    return this.code === '40P01' || this.code === '40001'
  }

  /** There is no such schema or table: nobody has set up the database yet. */
  get isNotSetUp(): boolean {
    return this.code === '3F000' || this.code === '42P01'
  }

  get isUniqueViolation(): boolean {
    return this.code === '23505'
  }
}

/** The database cannot be reached; what was asked may be tried again later. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

const USUAL_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/

/** PostgreSQL prints `2026-11-15 02:45:39.123+00` in a UTC session; the program speaks ISO 8601 with milliseconds. */
export function isoTime(text: string): string {
  // Times are read with every entity and every event, and a Date takes eight times as long.
  if (USUAL_TIME.test(text)) {
    const milliseconds = text.slice(20, -3).slice(0, 3).padEnd(3, '0')
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`
  }
  return new Date(`${text.replace(' ', 'T').replace(/\+00$/, '')}Z`).toISOString()
}

/** Type numbers of PostgreSQL's own catalogue (pg_type.oid) whose text form the program wants in another shape. */
export const typeParsers: Record<number, (text: string) => unknown> = {
  20: Number, // int8: counts and versions stay far below 2^53
  1082: (text) => text, // date
  1184: isoTime, // timestamptz
  1700: (text) => text, // numeric: exact decimal text
}

/** Schema names are written into SQL, so they are only ever plain identifiers. */
export function quotedSchema(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new TypeError(`${schema} is not a plain schema name`)
  return `"${schema}"`
}

/**
 * Every execution is planned anew, for the tables as large as they are then. A plan that is kept is made while tables are
 * small, reads them whole, and stays as they grow, until statistics are gathered the next time; one that is forced to be
 * index lookups may still take the wrong side first. Planning costs a fraction of a millisecond.
 *
 * Bitmaps are off, because rows are found by key or wanted in the order of an index: a bitmap would first collect all
 * hundred thousand links of a hub to sort them.
 */
export const PLANNING = { plan_cache_mode: 'force_custom_plan', enable_bitmapscan: 'off', jit: 'off' }
