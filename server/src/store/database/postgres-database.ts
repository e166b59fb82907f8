import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  type Database,
  DatabaseUnavailable,
  errorOfAnswer,
  PLANNER_SETTINGS,
  type Queryable,
  quotedSchema,
  type Row,
  type Transaction,
  typeParsers,
  type Unavailability,
} from './database.ts'
import { encodeParams } from './encode-params.ts'

/** The most connections of one node to one schema of a PostgreSQL server. */
const CONNECTIONS_MAX = 10

/** The server cancels a statement that takes too long; only if it does not say so within this time, it counts as silent. */
const ANSWER_GRACE_MS = 2_000

/**
 * The limit of statements that may legally take long: of migrations and of the command line. A dead peer is found
 * earlier, by TCP keepalive.
 */
export const LONG_STATEMENT_MS = 3_600_000

/** The kernel probes a silent connection after this time, then every second, and closes it after ten lost probes. */
const KEEPALIVE_AFTER_MS = 5_000

const SESSION = { timezone: 'UTC', synchronous_commit: 'on', ...PLANNER_SETTINGS }

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (typeParsers[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as never,
}

/** A schema of a PostgreSQL server, and how long a statement and a new connection may take. */
export interface PostgresOptions {
  url: string
  schema: string
  statementMs: number
  /** Read for every connection: a start has more patience than a request. */
  connectWithinMs: () => number
}

/** Opens a schema of a PostgreSQL server. It connects on demand: an unreachable server fails the first statement. */
export function openPostgres(options: PostgresOptions): Database {
  const connections = new Connections(options)
  const answerMs = options.statementMs + ANSWER_GRACE_MS
  const within = (ms: number): Queryable => ({
    query: (sql, params) => connections.use((session) => run(session, { sql, params, answerMs: ms })),
  })
  return {
    schema: options.schema,
    ...within(answerMs),
    within,
    transaction: (work) =>
      connections.use(async (session) => {
        const answerLongMs = LONG_STATEMENT_MS + ANSWER_GRACE_MS
        const transaction: Transaction = {
          query: (sql, params) => run(session, { sql, params, answerMs: answerLongMs }),
          script: async (sql) => void (await run(session, { sql, answerMs: answerLongMs })),
        }
        await run(session, { sql: 'BEGIN', answerMs })
        try {
          await transaction.script(`SET LOCAL statement_timeout = ${LONG_STATEMENT_MS}`)
          const result = await work(transaction)
          await transaction.script('COMMIT')
          return result
        } catch (error) {
          // A connection that gave no answer is closed, which rolls back as well.
          if (!(error instanceof DatabaseUnavailable)) await run(session, { sql: 'ROLLBACK', answerMs })
          throw error
        }
      }),
    inSchema: (schema) => openPostgres({ ...options, schema }),
    close: () => connections.close(),
  }
}

/** A connection in use, and the server process behind it: a process id may be given again, but not with the same start. */
interface Session {
  client: pg.PoolClient
  backend: Backend
  connections: Connections
}

interface Backend {
  pid: number
  startedAt: string
  /** Unset behind a pooler, which may run each statement of a connection in another process. */
  isOwn: boolean
}

/**
 * The connections of one node to one schema.
 *
 * A connection that stays silent is closed, and makes the others suspect: a network that dropped one without a word
 * has dropped the idle ones beside it, and each would cost another request its timeout. So the whole pool is replaced;
 * the old one ends as its statements end.
 */
class Connections {
  readonly #options: PostgresOptions
  readonly #backends = new WeakMap<pg.PoolClient, Backend>()
  #pool: pg.Pool
  #isClosed = false

  constructor(options: PostgresOptions) {
    this.#options = options
    this.#pool = this.#createPool()
  }

  /** Runs work on a connection, and closes that connection if it broke or stayed silent. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { session, pool } = await this.#acquire()
    try {
      const result = await work(session)
      session.client.release()
      return result
    } catch (error) {
      const isBroken = error instanceof DatabaseUnavailable
      session.client.release(isBroken)
      if (isBroken && error.mayHaveRun) this.#replace(pool)
      throw error
    }
  }

  /**
   * Ends a server process and resolves to whether it is gone. A process that waits for a synchronous standby is left
   * alone: it has committed, and ending it would show the commit before it is as durable as the server promises.
   */
  async endBackend({ pid, startedAt, isOwn }: Backend, withinMs: number): Promise<boolean> {
    if (!isOwn) return false
    const deadline = performance.now() + withinMs
    const isBackend = 'pid = $1 AND backend_start = $2::timestamptz'
    const remainingMs = () => Math.max(1, Math.ceil(deadline - performance.now()))
    const ask = (sql: string) =>
      this.use((session) => run(session, { sql, params: [pid, startedAt], answerMs: remainingMs() }))
    while (performance.now() < deadline) {
      try {
        await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE ${isBackend} AND wait_event IS DISTINCT FROM 'SyncRep'`)
        if ((await ask(`SELECT 1 FROM pg_stat_activity WHERE ${isBackend}`)).length === 0) return true
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error
      }
      await sleep(Math.min(ASK_AGAIN_MS, remainingMs()))
    }
    return false
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.end()
  }

  async #acquire(): Promise<{ session: Session; pool: pg.Pool }> {
    const pool = this.#pool
    const withinMs = this.#options.connectWithinMs()
    let client: pg.PoolClient
    try {
      pool.options.connectionTimeoutMillis = withinMs
      client = await pool.connect()
    } catch (error) {
      // Waited in vain for a connection of a pool that has been replaced meanwhile.
      if (pool !== this.#pool && !this.#isClosed) return this.#acquire()
      throw unavailable(error)
    }
    try {
      const backend = this.#backends.get(client) ?? (await identify(client, withinMs))
      this.#backends.set(client, backend)
      return { session: { client, backend, connections: this }, pool }
    } catch (error) {
      client.release(true)
      throw unavailable(error)
    }
  }

  #replace(suspect: pg.Pool): void {
    if (this.#pool !== suspect || this.#isClosed) return
    this.#pool = this.#createPool()
    suspect.end().catch(() => {}) // its connections are given up either way
  }

  #createPool(): pg.Pool {
    const { url, schema, statementMs } = this.#options
    const settings = { search_path: quotedSchema(schema), statement_timeout: String(statementMs), ...SESSION }
    const pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS_MAX,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
      application_name: 'verdigraph',
      types,
      options: Object.entries(settings)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
    })
    // Without listeners, the error event of a connection that breaks would end the process. The pool replaces an idle
    // one; the statement on one in use fails by itself.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }
}

const ASK_AGAIN_MS = 100

async function identify(client: pg.PoolClient, withinMs: number): Promise<Backend> {
  const { rows } = await client.query<Omit<Backend, 'isOwn'>>({
    text: 'SELECT pid, backend_start::text AS "startedAt" FROM pg_stat_get_activity(pg_backend_pid())',
    query_timeout: withinMs,
  } as pg.QueryConfig)
  const [backend] = rows
  // Told at the connection by the process that accepted it; a pooler makes up a number of its own.
  const { processID } = client as pg.PoolClient & { processID: number | null }
  return { ...backend!, isOwn: processID === backend!.pid }
}

async function run<R extends Row>(
  { client, backend, connections }: Session,
  { sql, params = [], answerMs }: { sql: string; params?: readonly unknown[] | undefined; answerMs: number },
): Promise<R[]> {
  const query = params.length > 0 ? prepared(sql, params) : { text: sql }
  try {
    return (await client.query<R>({ ...query, query_timeout: answerMs } as pg.QueryConfig)).rows
  } catch (error) {
    // Class 08 comes from a pooler that lost its connection to PostgreSQL, so PostgreSQL's own answer is lost.
    if (error instanceof pg.DatabaseError && error.code && !error.code.startsWith('08')) {
      const { message, code, constraint } = error
      throw errorOfAnswer(message, { code, constraint, cause: error })
    }
    throw unavailable(error, (withinMs) => connections.endBackend(backend, withinMs))
  }
}

/** The names of prepared statements by SQL text. Few texts occur, because batches of any size pass arrays. */
const statementNames = new Map<string, string>()

function prepared(sql: string, params: readonly unknown[]): pg.QueryConfig {
  const name = statementNames.get(sql) ?? `v${statementNames.size}`
  statementNames.set(sql, name)
  return { name, text: sql, values: encodeParams(sql, params).values }
}

function unavailable(error: unknown, endSession?: Unavailability['endSession']): DatabaseUnavailable {
  const message = error instanceof Error ? error.message : String(error)
  return new DatabaseUnavailable(message || 'the database does not answer', { cause: error, endSession })
}
