import type { Database } from '../database/database.ts'
import { type HeartbeatRun, heartbeatRuns } from './heartbeat-runs.ts'

/** The verification of a log that an operator asked for last. */
export interface VerificationRun extends HeartbeatRun {
  leaves_done: number
  leaves_size: number
  /** The newest result, as JSON, which may be that of an earlier run. */
  result: string | null
  result_by: string | null
  result_at: string | null
}

/** The runs of verifications. */
export function auditVerificationRunQueries(database: Database) {
  return {
    ...heartbeatRuns<VerificationRun>(database, {
      table: 'audit_verifications',
      silentAfterSeconds: 60,
      progress: ['leaves_done', 'leaves_size'],
      kept: ['result', 'result_by', 'result_at'],
    }),

    /** Ends a run with its result. */
    async end(
      organizationId: string,
      { runId, at, result }: { runId: string; at: string; result: string },
    ): Promise<void> {
      await database.query(
        `UPDATE audit_verifications SET beat_at = NULL, result = $3, result_by = started_by, result_at = $4
         WHERE org_id = $1 AND run_id = $2`,
        [organizationId, runId, result, at],
      )
    },
  }
}
