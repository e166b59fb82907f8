import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { type HeartbeatRun, heartbeatRuns } from './heartbeat-runs.ts'

/** The result of a backtest without its details, for lists. */
export type ListedBacktest = Omit<RowOf<'policy_backtests'>, 'result'>

/** The backtest that an operator asked for last. */
export interface BacktestRun extends HeartbeatRun {
  policy_id: string
  decided: number
  total: number
}

const LISTED_MAX = 50

const LISTED_COLUMNS = columnsOf('policy_backtests').filter((column) => column !== 'result')

/** The runs of backtests. */
export function backtestRunQueries(database: Database) {
  return heartbeatRuns<BacktestRun>(database, {
    table: 'backtest_runs',
    silentAfterSeconds: 30,
    about: ['policy_id'],
    progress: ['decided', 'total'],
  })
}

/** The results of backtests. */
export function backtestQueries(database: Database) {
  return {
    /** The backtests of a policy, newest first. */
    async ofPolicy(organizationId: string, policyId: string): Promise<ListedBacktest[]> {
      return database.query<ListedBacktest & Row>(
        `SELECT ${LISTED_COLUMNS.join(', ')} FROM policy_backtests WHERE org_id = $1 AND policy_id = $2
         ORDER BY id DESC LIMIT ${LISTED_MAX}`,
        [organizationId, policyId],
      )
    },

    /** The backtest with this id, if the organization has it. */
    async find(organizationId: string, id: string): Promise<RowOf<'policy_backtests'> | undefined> {
      const [row] = await database.query<RowOf<'policy_backtests'> & Row>(
        `SELECT ${columnsOf('policy_backtests').join(', ')} FROM policy_backtests WHERE org_id = $1 AND id = $2`,
        [organizationId, id],
      )
      return row
    },
  }
}
