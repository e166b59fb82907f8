import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  DatabaseUnavailable,
  errorOfAnswer,
  PLANNER_SETTINGS,
  quotedSchema,
  type Row,
  typeParsers,
  type Unavailability,
} from './database.ts'
import { DurableIncarnation } from './durable-incarnation.ts'
import { encodeParams } from './encode-params.ts'
import { findPrimary, READ_ONLY, TIMELINE } from './find-primary.ts'

/**
 * The most connections of one node to one schema of a PostgreSQL server: for statements that keep their plans, and for others.
 * Whether a session keeps plans is set when it begins, because setting it for a statement would take another round trip.
 */
const CONNECTIONS_MAX = { keptPlans: 5, ownPlans: 7 }

/** The kernel probes a silent connection after this time, then every second, and closes it after ten lost probes. */
const KEEPALIVE_AFTER_MS = 5_000

/**
 * The smallest write of any schema whose commit waits for the standbys: all commits before it are in the log before it, so they
 * have reached the standbys too.
 */
export const BARRIER = `SELECT pg_logical_emit_message(true, 'verdigraph', '')`

/** The function of PostgreSQL that warns of a commit which has not waited to its end for a standby. */
const CANCELLED_WAIT = 'SyncRepWaitForLSN'

/** A wait for a standby that was cancelled is told by a warning, which a role or a database may have turned off. */
const SESSION = { timezone: 'UTC', synchronous_commit: 'on', client_min_messages: 'warning', ...PLANNER_SETTINGS }

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (typeParsers[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as never,
}

/** A schema of a PostgreSQL server, and how long a statement and a new connection may take. */
export interface PostgresOptions {
  /** The servers of a cluster; one if it has no others, or a proxy leads to its primary. */
  urls: readonly string[]
  schema: string
  statementMs: number
  /** Read for every connection: a start has more patience than a request. */
  connectWithinMs: () => number
}

/** A connection in use, and the server process behind it: a process id may be given again, but not with the same start. */
export interface Session {
  client: pg.PoolClient
  backend: Backend
  connections: Connections
}

interface Backend {
  pid: number
  startedAt: string
  /** Unset behind a pooler, which may run each statement of a connection in another process. */
  isOwn: boolean
  /** The generation of the plans that it keeps. */
  plans: number
  /** The start of the server, its last recovery and its timeline. */
  incarnation: string
}

type Pools = Record<keyof typeof CONNECTIONS_MAX, pg.Pool>

interface Acquired {
  session: Session
  pools: Pools
}

/**
 * The connections of one node to one schema, all to the primary. Of several servers, it is found before the first connection,
 * and again once a server does not accept connections or writes any more, or its writes are not confirmed. A standby is refused
 * when it is connected to: it answers reads with what may be old.
 *
 * The first connections to each incarnation of a server, and those after a commit whose fate is unknown, begin with a write that waits
 * for the standbys (`DurableIncarnation`).
 *
 * A connection that stays silent is closed, and makes the others suspect: a network that dropped one without a word
 * has dropped the idle ones beside it, and each would cost another request its timeout. So all are replaced; the old ones
 * end as their statements end.
 */
export class Connections {
  readonly #options: PostgresOptions
  readonly #backends = new WeakMap<pg.PoolClient, Backend>()
  /** The connections on which a commit has not waited for its standby. */
  readonly #cancelledWaits = new WeakSet<pg.PoolClient>()
  readonly #durable = new DurableIncarnation()
  /** Undefined while it is not known which server is the primary. */
  #pools: Pools | undefined
  #finding: Promise<Pools> | undefined
  /** The timeline of the primary that was found last. */
  #timeline: string | undefined
  #isClosed = false
  #soughtSuccessorAtMs = Number.NEGATIVE_INFINITY
  /** When the server last answered that it is read-only. */
  #readOnlyAtMs = Number.NEGATIVE_INFINITY

  constructor(options: PostgresOptions) {
    this.#options = options
    this.#pools = this.#poolsIfKnown()
  }

  /** Runs work on a connection, and closes that connection if it broke or stayed silent. */
  async use<T>(work: (session: Session) => Promise<T>, from: keyof Pools = 'ownPlans'): Promise<T> {
    const { session, pools } = await this.#acquire(from)
    try {
      const result = await work(session)
      session.client.release()
      return result
    } catch (error) {
      const isBroken = error instanceof DatabaseUnavailable
      session.client.release(isBroken)
      if (isBroken && error.mayHaveRun) this.#durable.noteUnknownCommit()
      if (isBroken && (error.mayHaveRun || this.#isReadOnlyNow(error))) this.#replace(pools)
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

  /** The incarnation of the primary; undefined while it is not known, or what it shows may not have reached the standbys. */
  get incarnation(): string | undefined {
    return this.#durable.known
  }

  /** Whether a commit on a connection has not waited for its standby. */
  hasCancelledWait(client: pg.PoolClient): boolean {
    return this.#cancelledWaits.has(client)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#durable.abandon()
    const pools = this.#pools ?? (await this.#finding?.catch(() => undefined))
    if (pools) await Promise.all(Object.values(pools).map((pool) => pool.end()))
  }

  /** A connection to the primary; of a cluster, the primary is sought once more if the known one does not accept it. */
  async #acquire(from: keyof Pools, { mayFind = this.#options.urls.length > 1 } = {}): Promise<Acquired> {
    if (this.#isClosed) throw new DatabaseUnavailable('the database is closed')
    const withinMs = this.#options.connectWithinMs()
    const pools = this.#pools ?? (await this.#findPools(withinMs))
    try {
      return { session: await this.#connect(pools, { from, withinMs }), pools }
    } catch (error) {
      // Waited in vain for a connection of a pool that has been replaced meanwhile.
      if (pools !== this.#pools && !this.#isClosed) return this.#acquire(from, { mayFind: false })
      if (this.#isClosed || !mayFind || !mayHaveMoved(error)) throw error
      this.#replace(pools)
      return this.#acquire(from, { mayFind: false })
    }
  }

  async #connect(pools: Pools, { from, withinMs }: { from: keyof Pools; withinMs: number }): Promise<Session> {
    const pool = pools[from]
    pool.options.connectionTimeoutMillis = withinMs
    const client = await pool.connect().catch((error: unknown) => {
      throw unavailable(error)
    })
    let backend = this.#backends.get(client)
    try {
      backend ??= await identify(client, withinMs)
    } catch (error) {
      client.release(true)
      throw error instanceof DatabaseUnavailable ? error : unavailable(error)
    }
    this.#backends.set(client, backend)
    if (backend.incarnation !== this.#durable.known) {
      // A write on a server that has just been left would never be confirmed, and all other connections would wait for it.
      if (pools !== this.#pools) {
        client.release(true)
        throw new DatabaseUnavailable('the connection is to a server that has been left')
      }
      const confirm = () => this.#confirm(client)
      try {
        await this.#durable.require({ ...backend, confirm, close: () => client.release(true) }, withinMs)
      } catch (error) {
        this.#seekSuccessor(pools, withinMs)
        throw error
      }
    }
    return { client, backend, connections: this }
  }

  async #confirm(client: pg.PoolClient): Promise<void> {
    await client.query(BARRIER).catch((error: unknown) => {
      throw unavailable(error)
    })
    if (this.hasCancelledWait(client)) throw new DatabaseUnavailable('the wait for a standby was cancelled')
  }

  /**
   * Pools of connections to the primary, once it is found. Callers share a search, and for a moment its failure: without a
   * primary, each request would begin another.
   */
  #findPools(withinMs: number): Promise<Pools> {
    this.#finding ??= findPrimary(this.#options.urls, { withinMs, since: this.#timeline })
      .then(({ url, timeline }) => {
        if (this.#isClosed) throw new DatabaseUnavailable('the database is closed')
        this.#timeline = timeline
        this.#pools = this.#createPools(url)
        return this.#pools
      })
      .catch((error: unknown) => sleep(SEARCH_AGAIN_MS).then(() => Promise.reject(error)))
      .finally(() => {
        this.#finding = undefined
      })
    return this.#finding
  }

  /**
   * Asks, once in a while, whether another server has taken over from one whose writes are not confirmed. A server that does not know
   * that it was replaced goes on to accept connections, so no error leads away from it. If none has taken over, its connections stay:
   * each new one would leave a write behind that waits.
   */
  #seekSuccessor(suspect: Pools, withinMs: number): void {
    const { urls } = this.#options
    if (urls.length === 1 || performance.now() - this.#soughtSuccessorAtMs < SEEK_SUCCESSOR_EVERY_MS) return
    this.#soughtSuccessorAtMs = performance.now()
    findPrimary(urls, { withinMs, since: this.#timeline })
      .then(({ url, timeline }) => {
        if (this.#pools !== suspect || this.#isClosed || timeline === this.#timeline) return
        this.#timeline = timeline
        this.#replace(suspect, this.#createPools(url))
      })
      .catch(() => {}) // no server accepts writes, so none has taken over
  }

  /**
   * Whether the server answered that it is read-only, as one that was demoted does. One that stays so on purpose, such as one with
   * a full disk, loses only the connection that was told so.
   */
  #isReadOnlyNow({ code }: DatabaseUnavailable): boolean {
    if (code !== READ_ONLY) return false
    const sinceMs = performance.now() - this.#readOnlyAtMs
    this.#readOnlyAtMs = performance.now()
    return sinceMs > READ_ONLY_FOR_MS
  }

  #replace(suspect: Pools, next?: Pools): void {
    if (this.#pools !== suspect || this.#isClosed) return
    this.#pools = next ?? this.#poolsIfKnown()
    this.#durable.abandon()
    for (const pool of Object.values(suspect)) pool.end().catch(() => {}) // its connections are given up either way
  }

  /** Of a single server, it is known which one is the primary. */
  #poolsIfKnown(): Pools | undefined {
    const [url, ...others] = this.#options.urls
    return others.length === 0 ? this.#createPools(url!) : undefined
  }

  #createPools(url: string): Pools {
    return {
      keptPlans: this.#createPool(url, CONNECTIONS_MAX.keptPlans, { plan_cache_mode: 'force_generic_plan' }),
      ownPlans: this.#createPool(url, CONNECTIONS_MAX.ownPlans, {}),
    }
  }

  #createPool(url: string, max: number, planner: Partial<typeof PLANNER_SETTINGS>): pg.Pool {
    const { schema, statementMs } = this.#options
    const settings = {
      search_path: quotedSchema(schema),
      statement_timeout: String(statementMs),
      ...SESSION,
      ...planner,
    }
    const pool = new pg.Pool({
      connectionString: url,
      max,
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
    pool.on('connect', (client) => {
      client.on('error', () => {})
      client.on('notice', (notice) => {
        if (notice.routine === CANCELLED_WAIT) this.#cancelledWaits.add(client)
      })
    })
    return pool
  }
}

const ASK_AGAIN_MS = 100
/** How soon after a search that found no primary the next one may begin. */
const SEARCH_AGAIN_MS = 250
/** How soon after a search for the server that has taken over the next one may begin. */
const SEEK_SUCCESSOR_EVERY_MS = 1_000
/** A server that has said so within this time is still read-only; the health check asks every five seconds. */
const READ_ONLY_FOR_MS = 10_000
/** What the pool says when all its connections are in use. */
const POOL_IS_BUSY = 'timeout exceeded when trying to connect'

/**
 * Whether the primary may be another server now, because this one does not accept a connection. It has not moved if all
 * connections are in use here or there, or it refuses the password.
 */
function mayHaveMoved(error: unknown): boolean {
  if (!(error instanceof DatabaseUnavailable)) return false
  const { code, cause } = error
  if (cause instanceof pg.DatabaseError) return cause.code?.startsWith('57P0') ?? false
  return code === READ_ONLY || (cause instanceof Error && cause.message !== POOL_IS_BUSY)
}

/** SQL: the last recovery of a server, which has reset its statistics. A crash of one process recovers without a start. */
const RECOVERED_AT = 'pg_stat_get_bgwriter_stat_reset_time()'

async function identify(client: pg.PoolClient, withinMs: number): Promise<Backend> {
  const { rows } = await client.query<Omit<Backend, 'isOwn' | 'plans'> & { isStandby: boolean }>({
    text: `SELECT pid, backend_start::text AS "startedAt", pg_is_in_recovery() AS "isStandby",
        concat_ws(' ', pg_postmaster_start_time(), ${RECOVERED_AT}, ${TIMELINE}) AS incarnation
      FROM pg_stat_get_activity(pg_backend_pid())`,
    query_timeout: withinMs,
  } as pg.QueryConfig)
  const { isStandby, ...backend } = rows[0]!
  if (isStandby) throw new DatabaseUnavailable('the server is a standby, which accepts no writes', { code: READ_ONLY })
  // Told at the connection by the process that accepted it; a pooler makes up a number of its own.
  const { processID } = client as pg.PoolClient & { processID: number | null }
  return { ...backend, isOwn: processID === backend.pid, plans: 0 }
}

/** Runs a statement on a connection, within a time. */
export async function run<R extends Row>(
  { client, backend, connections }: Session,
  { sql, params = [], answerMs }: { sql: string; params?: readonly unknown[] | undefined; answerMs: number },
): Promise<R[]> {
  const query = params.length > 0 ? prepared(sql, params) : { text: sql }
  try {
    const { rows } = await client.query<R>({ ...query, query_timeout: answerMs } as pg.QueryConfig)
    if (!connections.hasCancelledWait(client)) return rows
  } catch (error) {
    // Class 08 comes from a pooler that lost its connection to PostgreSQL, so PostgreSQL's own answer is lost.
    if (error instanceof pg.DatabaseError && error.code && !error.code.startsWith('08')) {
      const { message, code, constraint } = error
      throw errorOfAnswer(message, { code, constraint, cause: error })
    }
    throw unavailable(error, (withinMs) => connections.endBackend(backend, withinMs))
  }
  // Committed on the primary, and perhaps nowhere else: the answer of the statement is as good as lost.
  throw new DatabaseUnavailable('the wait for a standby was cancelled', { endSession: async () => true })
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
