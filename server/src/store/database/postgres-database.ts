import pg from 'pg'
import {
  type Database,
  DatabaseError,
  DatabaseUnavailable,
  PLANNER_SETTINGS,
  quotedSchema,
  type Row,
  type Transaction,
  typeParsers,
} from './database.ts'
import { encodeParams } from './encode-params.ts'

/** The most connections of one node to one schema of a PostgreSQL server. */
const CONNECTIONS_MAX = 10

const SESSION = { timezone: 'UTC', statement_timeout: '30000', synchronous_commit: 'on', ...PLANNER_SETTINGS }

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (typeParsers[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as never,
}

/** Opens a schema of a PostgreSQL server. It connects on demand: an unreachable server fails the first statement. */
export function openPostgres({
  url,
  schema,
  onIdleError,
}: {
  url: string
  schema: string
  onIdleError?: (error: Error) => void
}): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    application_name: 'verdigraph',
    types,
    options: Object.entries({ search_path: quotedSchema(schema), ...SESSION })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  })
  // The pool replaces an idle connection that breaks; without a listener its error event would end the process.
  pool.on('error', (error) => onIdleError?.(error))

  return {
    schema,
    query: (sql, params) => run(pool, sql, params),

    async transaction(work) {
      const client = await connect(pool)
      try {
        await run(client, 'BEGIN')
        const result = await work(transactionOn(client))
        await run(client, 'COMMIT')
        client.release()
        return result
      } catch (error) {
        const broken = await client.query('ROLLBACK').then(
          () => false,
          () => true,
        )
        client.release(broken)
        throw error
      }
    },

    inSchema: (other) => openPostgres({ url, schema: other, ...(onIdleError && { onIdleError }) }),
    close: () => pool.end(),
  }
}

function transactionOn(client: pg.PoolClient): Transaction {
  return {
    query: (sql, params) => run(client, sql, params),
    async script(sql) {
      await client.query(sql).catch(rethrow)
    },
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch(rethrow)
}

async function run<R extends Row>(
  runner: pg.Pool | pg.PoolClient,
  sql: string,
  params: readonly unknown[] = [],
): Promise<R[]> {
  const result = await runner.query<R>(params.length > 0 ? prepared(sql, params) : { text: sql }).catch(rethrow)
  return result.rows
}

/** The names of prepared statements by SQL text. Few texts occur, because batches of any size pass arrays. */
const statementNames = new Map<string, string>()

function prepared(sql: string, params: readonly unknown[]): pg.QueryConfig {
  const name = statementNames.get(sql) ?? `v${statementNames.size}`
  statementNames.set(sql, name)
  return { name, text: sql, values: encodeParams(sql, params).values }
}

function rethrow(error: unknown): never {
  if (error instanceof pg.DatabaseError && error.code) {
    // 57P0x: the server is shutting down or starting; 57014: statement timeout; 53300: too many connections.
    if (/^(57P0|57014|53300)/.test(error.code)) throw new DatabaseUnavailable(error.message, { cause: error })
    throw new DatabaseError(error.message, { code: error.code, constraint: error.constraint, cause: error })
  }
  throw new DatabaseUnavailable(error instanceof Error ? error.message : String(error), { cause: error })
}
