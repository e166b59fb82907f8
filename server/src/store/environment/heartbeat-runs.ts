import type { Database, Row } from '../database/database.ts'

/** Work that an operator asked for and that one node does at a time, for each organization: the newest such run. */
export interface HeartbeatRun {
  run_id: string
  started_by: string
  started_at: string
  /** Whether a node works on it: it reported within `silentAfterSeconds`. */
  is_running: boolean
  /** Whether its node stopped before the end. */
  is_abandoned: boolean
  failure: string | null
}

/** A table of runs, one row for each organization, with the columns of `HeartbeatRun` and `beat_at`. */
interface RunTable {
  table: 'audit_verifications' | 'backtest_runs'
  /** A node that reports nothing for so long has died: another run may begin. */
  silentAfterSeconds: number
  /** The columns that say how far a run has come; a new run begins them with zero. */
  progress: readonly [done: string, of: string]
  /** Other columns that a run is begun with. */
  about?: readonly string[]
  /** Other columns that are read with a run. */
  kept?: readonly string[]
}

/** Begins, reports and reads runs of a table. A run whose `beat_at` is null has ended. */
export function heartbeatRuns<Run extends HeartbeatRun>(
  database: Database,
  { table, silentAfterSeconds, progress: [done, of], about = [], kept = [] }: RunTable,
) {
  const isSilent = `beat_at < now() - interval '${silentAfterSeconds} seconds'`
  const given = ['run_id', ...about, 'started_by', 'started_at']
  return {
    /** Begins a run; false if one is in progress. */
    async begin(organizationId: string, run: Readonly<Record<string, string>>): Promise<boolean> {
      const begun = await database.query(
        `INSERT INTO ${table} AS run (org_id, ${given.join(', ')}, beat_at, ${done}, ${of})
         VALUES ($1, ${given.map((_, index) => `$${index + 2}`).join(', ')}, now(), 0, 0)
         ON CONFLICT (org_id) DO UPDATE SET ${given.map((column) => `${column} = excluded.${column}`).join(', ')},
           beat_at = excluded.beat_at, ${done} = 0, ${of} = 0, failure = NULL
         WHERE run.beat_at IS NULL OR run.${isSilent} RETURNING 1`,
        [organizationId, ...given.map((column) => run[column])],
      )
      return begun.length > 0
    },

    /** Reports how far a run has come; false if it has ended, or another node has taken over. */
    async report(organizationId: string, progress: { runId: string; done: number; of: number }): Promise<boolean> {
      const reported = await database.query(
        `UPDATE ${table} SET beat_at = now(), ${done} = $3, ${of} = $4
         WHERE org_id = $1 AND run_id = $2 AND beat_at IS NOT NULL RETURNING 1`,
        [organizationId, progress.runId, progress.done, progress.of],
      )
      return reported.length > 0
    },

    /** Ends a run without a result. */
    async fail(organizationId: string, { runId, failure }: { runId: string; failure: string }): Promise<void> {
      await database.query(
        `UPDATE ${table} SET beat_at = NULL, failure = $3 WHERE org_id = $1 AND run_id = $2 AND beat_at IS NOT NULL`,
        [organizationId, runId, failure],
      )
    },

    /** The newest run of an organization. */
    async newest(organizationId: string): Promise<Run | undefined> {
      const columns = [...given, done, of, 'failure', ...kept]
      const [row] = await database.query<Run & Row>(
        `SELECT ${columns.join(', ')}, beat_at IS NOT NULL AND NOT ${isSilent} AS is_running,
           coalesce(${isSilent}, false) AS is_abandoned FROM ${table} WHERE org_id = $1`,
        [organizationId],
      )
      return row
    },
  }
}
