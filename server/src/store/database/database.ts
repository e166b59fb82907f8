/** One row as the drivers return it: times as ISO 8601 UTC text, 64-bit integers as numbers, exact decimals as text. */
export type Row = Record<string, unknown>

/** How a statement is planned. */
export interface StatementOptions {
  /**
   * Uses one plan for a while (`KeptPlans`), because planning takes longer than executing. Only for statements that read by key
   * or read a small table, so that one plan suits any parameters, also of a table that was smaller at first.
   */
  keepPlan?: boolean
}

/** Runs single statements, each in its own transaction unless it is part of a `Transaction`. */
export interface Queryable {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[], options?: StatementOptions): Promise<R[]>
}

/** Runs statements, and scripts of several statements without parameters, inside an interactive transaction. */
export interface Transaction extends Queryable {
  script(sql: string): Promise<void>
}

/**
 * A handle on one schema of one database: the only interface to storage that the rest of the program uses.
 * Hot paths write each batch with one statement, so interactive transactions are rare (migrations, the first start).
 */
export interface Database extends Queryable {
  readonly schema: string
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** The same schema, with another limit on how long a statement may go without an answer. */
  within(ms: number): Queryable
  /**
   * Reads, and resolves once what was found is as durable as commits are here; undefined if nothing was. A commit whose wait for
   * a standby was cancelled, or that a restart found on the disk of the primary alone, is visible although a failover may still
   * take it away. Reads again if another server became the primary meanwhile.
   */
  durably<T>(read: () => Promise<T | undefined>): Promise<T | undefined>
  /** A handle on another schema of the same server. */
  inSchema(schema: string): Database
  close(): Promise<void>
}

/** An error that PostgreSQL returned; `code` is the SQLSTATE. The message may hold SQL, so clients never get it. */
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

  /** A deadlock or a serialization failure: nothing was written, and the statement may be retried. */
  get isTransient(): boolean {
    return this.code === '40P01' || this.code === '40001'
  }

  /** The schema or table does not exist: the database has not been migrated yet. */
  get isNotSetUp(): boolean {
    return this.code === '3F000' || this.code === '42P01'
  }

  get isUniqueViolation(): boolean {
    return this.code === '23505'
  }
}

/** What is known of a statement that failed because the database was unavailable. */
export interface Unavailability {
  cause?: unknown
  /** The SQLSTATE, if PostgreSQL answered with one. */
  code?: string | undefined
  /**
   * Set if the statement may have been executed, or may still be: it was sent, and its answer was lost. Ends the session
   * that it was sent on, and resolves to whether that session is gone. From then on the statement has either been
   * committed or never will be.
   */
  endSession?: ((withinMs: number) => Promise<boolean>) | undefined
}

/** The database is unreachable, overloaded, out of space or closed. It may answer later. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  readonly code: string | undefined
  readonly endSession: Unavailability['endSession']

  constructor(message: string, { cause, code, endSession }: Unavailability = {}) {
    super(message, { cause })
    this.code = code
    this.endSession = endSession
  }

  /** Whether the statement may have been executed although its answer was lost. */
  get mayHaveRun(): boolean {
    return this.endSession !== undefined
  }
}

/**
 * SQLSTATEs that say nothing about the statement itself: the server is shutting down or starting (57P0x), timed out
 * (57014), lacks disk, memory or connections (class 53), lost the client (class 08), or is read-only (25006), as a
 * standby is.
 */
const UNAVAILABLE = /^(57P0|57014|53|08|25006)/

/** The error of a statement that PostgreSQL answered with an error, and so has rolled back. */
export function errorOfAnswer(
  message: string,
  { code, constraint, cause }: { code: string; constraint?: string | undefined; cause?: unknown },
): DatabaseError | DatabaseUnavailable {
  if (UNAVAILABLE.test(code)) return new DatabaseUnavailable(message, { cause, code })
  return new DatabaseError(message, { code, constraint, cause })
}

const UTC_TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/

/** Converts a timestamp that PostgreSQL printed in UTC (`2026-11-15 02:45:39.123+00`) to ISO 8601 with milliseconds. */
export function isoTime(text: string): string {
  // Every entity and every event has timestamps, and converting one through Date takes eight times as long.
  if (UTC_TIMESTAMP.test(text)) {
    const milliseconds = text.slice(20, -3).slice(0, 3).padEnd(3, '0')
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`
  }
  return new Date(`${text.replace(' ', 'T').replace(/\+00$/, '')}Z`).toISOString()
}

/** The bytes of a `bytea`, which PostgreSQL prints as `\\x` and hexadecimal digits. */
function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.slice(2), 'hex')
}

/** Parsers of the text form of PostgreSQL types, by type number (pg_type.oid). */
export const typeParsers: Record<number, (text: string) => unknown> = {
  17: bytesOf, // bytea
  20: Number, // int8: counts and versions stay far below 2^53
  1082: (text) => text, // date
  1184: isoTime, // timestamptz
  1700: (text) => text, // numeric: exact decimal text
}

/** Quotes a schema name for SQL; throws unless it is a plain identifier, because it is not passed as a parameter. */
export function quotedSchema(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new TypeError(`${schema} is not a plain schema name`)
  return `"${schema}"`
}

/**
 * Session settings of the query planner.
 *
 * Every execution gets its own plan, for the current sizes of the tables. A cached plan is made while tables are small,
 * scans them sequentially, and stays in use as they grow, until the next ANALYZE; forcing index scans does not help,
 * because such a plan may still join in the wrong order. Statements that run often keep their plan for a short time:
 * see `StatementOptions.keepPlan`.
 *
 * Bitmap scans are off, because rows are looked up by key or read in index order: a bitmap scan would collect all
 * hundred thousand links of a hub first and then sort them.
 */
export const PLANNER_SETTINGS = { plan_cache_mode: 'force_custom_plan', enable_bitmapscan: 'off', jit: 'off' }
