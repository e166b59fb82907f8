import type { Database, Row } from '../database/database.ts'

/** The verification of a log that an operator asked for last. */
export interface VerificationRun {
  run_id: string
  started_by: string
  started_at: string
  /** Whether a node works on it: it reported within the last `SILENT_AFTER_SECONDS`. */
  is_running: boolean
  /** Whether its node stopped before the end. */
  is_abandoned: boolean
  leaves_done: number
  leaves_size: number
  failure: string | null
  /** The newest result, as JSON, which may be that of an earlier run. */
  result: string | null
  result_by: string | null
  result_at: string | null
}

/** A node that reports nothing for so long has died: another may begin. */
const SILENT_AFTER_SECONDS = 60

const IS_SILENT = `beat_at < now() - interval '${SILENT_AFTER_SECONDS} seconds'`

/** The runs of verifications, one at a time for each organization, whichever node does it. */
export function auditVerificationRunQueries(database: Database) {
  return {
    /** Begins a run; false if one is in progress. */
    async begin(
      organizationId: string,
      { runId, startedBy, startedAt }: { runId: string; startedBy: string; startedAt: string },
    ): Promise<boolean> {
      const begun = await database.query(
        `INSERT INTO audit_verifications AS run (org_id, run_id, started_by, started_at, beat_at, leaves_done, leaves_size)
         VALUES ($1, $2, $3, $4, now(), 0, 0)
         ON CONFLICT (org_id) DO UPDATE SET run_id = excluded.run_id, started_by = excluded.started_by,
           started_at = excluded.started_at, beat_at = excluded.beat_at, leaves_done = 0, leaves_size = 0, failure = NULL
         WHERE run.beat_at IS NULL OR run.${IS_SILENT} RETURNING 1`,
        [organizationId, runId, startedBy, startedAt],
      )
      return begun.length > 0
    },

    /** Reports how far a run has come; false if another node has taken over. */
    async report(
      organizationId: string,
      { runId, leavesDone, leavesSize }: { runId: string; leavesDone: number; leavesSize: number },
    ): Promise<boolean> {
      const reported = await database.query(
        `UPDATE audit_verifications SET beat_at = now(), leaves_done = $3, leaves_size = $4
         WHERE org_id = $1 AND run_id = $2 AND beat_at IS NOT NULL RETURNING 1`,
        [organizationId, runId, leavesDone, leavesSize],
      )
      return reported.length > 0
    },

    /** Ends a run with its result, or with the reason why it has none. */
    async end(
      organizationId: string,
      { runId, at, ...end }: { runId: string; at: string } & ({ result: string } | { failure: string }),
    ): Promise<void> {
      if ('failure' in end)
        await database.query(
          'UPDATE audit_verifications SET beat_at = NULL, failure = $3 WHERE org_id = $1 AND run_id = $2',
          [organizationId, runId, end.failure],
        )
      else
        await database.query(
          `UPDATE audit_verifications SET beat_at = NULL, result = $3, result_by = started_by, result_at = $4
           WHERE org_id = $1 AND run_id = $2`,
          [organizationId, runId, end.result, at],
        )
    },

    /** The last run of an organization's log, with the newest result. */
    async newest(organizationId: string): Promise<VerificationRun | undefined> {
      const [row] = await database.query<VerificationRun & Row>(
        `SELECT run_id, started_by, started_at, beat_at IS NOT NULL AND NOT ${IS_SILENT} AS is_running,
           coalesce(${IS_SILENT}, false) AS is_abandoned, leaves_done, leaves_size, failure, result, result_by, result_at
         FROM audit_verifications WHERE org_id = $1`,
        [organizationId],
      )
      return row
    },
  }
}
