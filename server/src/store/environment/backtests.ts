import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'

/** The result of a backtest without its details, for lists. */
export type ListedBacktest = Omit<RowOf<'policy_backtests'>, 'result'>

/** The backtest that an operator asked for last. */
export interface BacktestRun {
  run_id: string
  policy_id: string
  started_by: string
  started_at: string
  /** Whether a node works on it: it reported within the last `SILENT_AFTER_SECONDS`. */
  is_running: boolean
  /** Whether its node stopped before the end. */
  is_abandoned: boolean
  decided: number
  total: number
  failure: string | null
}

/** A node that reports nothing for so long has died: another backtest may begin. */
const SILENT_AFTER_SECONDS = 30
const IS_SILENT = `beat_at < now() - interval '${SILENT_AFTER_SECONDS} seconds'`
const LISTED_MAX = 50

const LISTED_COLUMNS = columnsOf('policy_backtests').filter((column) => column !== 'result')

/** Backtests: their results, and the run in progress, one at a time for each organization, whichever node does it. */
export function backtestQueries(database: Database) {
  return {
    /** Begins a run; false if one is in progress. */
    async begin(
      organizationId: string,
      {
        runId,
        policyId,
        startedBy,
        startedAt,
      }: { runId: string; policyId: string; startedBy: string; startedAt: string },
    ): Promise<boolean> {
      const begun = await database.query(
        `INSERT INTO backtest_runs AS run (org_id, run_id, policy_id, started_by, started_at, beat_at, decided, total)
         VALUES ($1, $2, $3, $4, $5, now(), 0, 0)
         ON CONFLICT (org_id) DO UPDATE SET run_id = excluded.run_id, policy_id = excluded.policy_id,
           started_by = excluded.started_by, started_at = excluded.started_at, beat_at = excluded.beat_at,
           decided = 0, total = 0, failure = NULL
         WHERE run.beat_at IS NULL OR run.${IS_SILENT} RETURNING 1`,
        [organizationId, runId, policyId, startedBy, startedAt],
      )
      return begun.length > 0
    },

    /** Reports how far a run has come; false if it was cancelled, or another node has taken over. */
    async report(
      organizationId: string,
      { runId, decided, total }: { runId: string; decided: number; total: number },
    ): Promise<boolean> {
      const reported = await database.query(
        `UPDATE backtest_runs SET beat_at = now(), decided = $3, total = $4
         WHERE org_id = $1 AND run_id = $2 AND beat_at IS NOT NULL RETURNING 1`,
        [organizationId, runId, decided, total],
      )
      return reported.length > 0
    },

    /** Ends a run that has no result, with the reason, unless it has ended before. */
    async fail(organizationId: string, runId: string, failure: string): Promise<void> {
      await database.query(
        'UPDATE backtest_runs SET beat_at = NULL, failure = $3 WHERE org_id = $1 AND run_id = $2 AND beat_at IS NOT NULL',
        [organizationId, runId, failure],
      )
    },

    /** The backtest that an operator asked for last. */
    async run(organizationId: string): Promise<BacktestRun | undefined> {
      const [row] = await database.query<BacktestRun & Row>(
        `SELECT run_id, policy_id, started_by, started_at, beat_at IS NOT NULL AND NOT ${IS_SILENT} AS is_running,
           coalesce(${IS_SILENT}, false) AS is_abandoned, decided, total, failure
         FROM backtest_runs WHERE org_id = $1`,
        [organizationId],
      )
      return row
    },

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
