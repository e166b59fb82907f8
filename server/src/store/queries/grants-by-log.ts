import type { Database } from '../database/database.ts'
import { INSTALLATION_LOG, POWER_TABLES } from '../power/power-tables.ts'

/** A link that the log says was made and not ended. */
export interface InvitationByLog {
  invitation_id: string
  expires_at: string
}

/** What operators hold by the log: an act that ends it must end a row too that is out of sight. */
export function grantByLogQueries(database: Database) {
  return {
    /** The operators of an organization whose approval of the live gate was not withdrawn. */
    async gateApproversByLog(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ subject_id: string; type: string }>(
        `SELECT DISTINCT ON (subject_id) subject_id, type FROM audit_entries
         WHERE org_id = $1 AND type = ANY($2::text[]) AND actor_type <> 'api_key' ORDER BY subject_id, seq DESC`,
        [organizationId, POWER_TABLES.live_gate_approvals.entryTypes],
      )
      return rows.filter(({ type }) => type === 'live_gate.approved').map(({ subject_id }) => subject_id)
    },

    /** Whether an account started a session, and has not ended it by itself; it may have ended with all others since. */
    async hasSessionByLog({ accountId, sessionId }: { accountId: string; sessionId: string }): Promise<boolean> {
      const newest = await newestOf(database, 'sessions', { organizationId: INSTALLATION_LOG, subjectId: sessionId })
      return (
        newest?.type === 'account.session_started' &&
        (JSON.parse(newest.data) as { account_id: string }).account_id === accountId
      )
    },

    /** The invitation of an operator that was neither used nor withdrawn; it may have expired. */
    async invitationByLog(organizationId: string, operatorId: string): Promise<InvitationByLog | undefined> {
      const newest = await newestOf(database, 'invitations', { organizationId, subjectId: operatorId })
      return newest?.type === 'operator.invited' ? (JSON.parse(newest.data) as InvitationByLog) : undefined
    },
  }
}

async function newestOf(
  database: Database,
  table: 'sessions' | 'invitations',
  { organizationId, subjectId }: { organizationId: string; subjectId: string },
): Promise<{ type: string; data: string } | undefined> {
  const [newest] = await database.query<{ type: string; data: string }>(
    `SELECT type, data FROM audit_entries WHERE org_id = $1 AND subject_id = $2 AND type = ANY($3::text[])
       AND actor_type <> 'api_key' ORDER BY seq DESC LIMIT 1`,
    [organizationId, subjectId, POWER_TABLES[table].entryTypes],
  )
  return newest
}
