import type { Database, Row } from '../database/database.ts'
import { organizationsAfter } from '../database/organizations-after.ts'
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

/** A backtest that upkeep may delete, with the policy that it is of. */
export interface SupersededBacktest {
  org_id: string
  id: string
  policy_id: string
  policy_version: string
  policy_checksum: string
  finished_at: string
}

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

    /**
     * Backtests with ids below one, oldest first, that are neither the newest of their policy nor named by the evidence of one of
     * its steps. An approval names the newest, and its policy can be activated only while that one is as it was.
     */
    async superseded(beforeId: string, limit: number): Promise<SupersededBacktest[]> {
      return database.query<SupersededBacktest & Row>(
        `WITH RECURSIVE ${organizationsAfter("''", 'policy_backtests')}
         SELECT old.org_id, old.id, old.policy_id, policy.version AS policy_version, old.checksum AS policy_checksum, old.finished_at
         FROM organizations CROSS JOIN LATERAL (
           SELECT org_id, id, policy_id, checksum, finished_at FROM policy_backtests AS each
           WHERE each.org_id = organizations.org_id AND each.id < $1
             AND EXISTS (SELECT 1 FROM policy_backtests AS newer
               WHERE newer.org_id = each.org_id AND newer.policy_id = each.policy_id AND newer.id > each.id)
             AND NOT EXISTS (SELECT 1 FROM policy_steps AS step
               WHERE step.org_id = each.org_id AND step.policy_id = each.policy_id AND strpos(step.evidence, each.id) > 0)
           ORDER BY each.id LIMIT $2
         ) AS old
         JOIN policies AS policy ON policy.org_id = old.org_id AND policy.id = old.policy_id
         LIMIT $2`,
        [beforeId, limit],
      )
    },
  }
}
