import { type Database, DatabaseUnavailable, type Queryable, type Transaction } from './database.ts'
import { givenRowsOf, KeptPlans, mayKeepPlan } from './kept-plans.ts'
import { BARRIER, Connections, type PostgresOptions, run, type Session } from './postgres-connections.ts'
import { sharedBarrier } from './shared-barrier.ts'

/** The server cancels a statement that takes too long; only if it does not say so within this time, it counts as silent. */
const ANSWER_GRACE_MS = 2_000

/**
 * The limit of statements that may legally take long: of migrations and of the command line. A dead peer is found
 * earlier, by TCP keepalive.
 */
export const LONG_STATEMENT_MS = 3_600_000

/** Opens a schema of a PostgreSQL server. It connects on demand: an unreachable server fails the first statement. */
export function openPostgres(options: PostgresOptions): Database {
  const connections = new Connections(options)
  const answerMs = options.statementMs + ANSWER_GRACE_MS
  /** Resolves with the incarnation of the server whose standbys have all that it showed before. */
  const barrier = sharedBarrier(() =>
    connections.use(async (session) => {
      await run(session, { sql: BARRIER, answerMs: BARRIER_WITHIN_MS })
      return session.backend.incarnation
    }),
  )
  const plans = new KeptPlans()
  const within = (ms: number): Queryable => ({
    query: (sql, params = [], statement = {}) => {
      const given = givenRowsOf(params)
      plans.countRows(given)
      if (!mayKeepPlan(statement, given))
        return connections.use((session) => run(session, { sql, params, answerMs: ms }))
      return connections.use(async (session) => {
        await discardOutdated(session, plans, ms)
        return run(session, { sql, params, answerMs: ms })
      }, 'keptPlans')
    },
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
    async durably(read) {
      for (let tries = 1; tries <= DURABLE_READS_MAX; tries++) {
        const { incarnation } = connections
        const found = await read()
        if (found === undefined || (await barrier()) === incarnation) return found
      }
      throw new DatabaseUnavailable('another server became the primary at each read')
    },
    inSchema: (schema) => openPostgres({ ...options, schema }),
    close: () => connections.close(),
  }
}

const BARRIER_WITHIN_MS = 5_000
/** The first read of a node finds the primary; one more is needed if it is replaced during the next. */
const DURABLE_READS_MAX = 3

/** Discards the plans that a session has kept for too long. */
async function discardOutdated(session: Session, { generation }: KeptPlans, answerMs: number): Promise<void> {
  if (session.backend.plans === generation) return
  session.backend.plans = generation
  await run(session, { sql: 'DISCARD PLANS', answerMs })
}
