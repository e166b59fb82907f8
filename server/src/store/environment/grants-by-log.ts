import type { Database, Row } from '../database/database.ts'
import { INSTALLATION_LOG, POWER_TABLES } from '../power/power-tables.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** A link that the log says was made and not ended. */
export interface InvitationByLog {
  invitation_id: string
  expires_at: string
}

/**
 * What operators hold by the log: an act that ends it must end a row too that is out of sight. Only entries of this
 * service count: a forged end, deleted later, would keep the act from recording the real one.
 */
export function grantByLogQueries(database: Database, isAuthentic: IsAuthentic) {
  /** The entries of a table on a log, newest first: about one subject, or about all. */
  const entriesOf = async (
    table: 'sessions' | 'invitations' | 'live_gate_approvals',
    { organizationId, subjectId }: { organizationId: string; subjectId?: string },
  ): Promise<StoredEntry[]> => {
    const entries = await database.query<StoredEntry & Row>(
      `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
       WHERE org_id = $1 AND type = ANY($2::text[]) AND actor_type <> 'api_key' ${subjectId === undefined ? '' : 'AND subject_id = $3'}
       ORDER BY seq DESC`,
      [organizationId, POWER_TABLES[table].entryTypes, ...(subjectId === undefined ? [] : [subjectId])],
    )
    return entries.filter(isAuthentic)
  }
  return {
    /** The operators of an organization whose approval of the live gate was not withdrawn. */
    async gateApprovers(organizationId: string): Promise<string[]> {
      const entries = await entriesOf('live_gate_approvals', { organizationId })
      const bySubject = Map.groupBy(entries, ({ subject_id }) => subject_id)
      return [...bySubject].filter(([, [newest]]) => newest!.type === 'live_gate.approved').map(([id]) => id)
    },

    /** Whether an account started a session, and has not ended it by itself; it may have ended with all others since. */
    async hasSession({ accountId, sessionId }: { accountId: string; sessionId: string }): Promise<boolean> {
      const [newest] = await entriesOf('sessions', { organizationId: INSTALLATION_LOG, subjectId: sessionId })
      return newest?.type === 'account.session_started' && dataOf(newest).account_id === accountId
    },

    /** The invitation of an operator that was neither used nor withdrawn; it may have expired. */
    async invitation(organizationId: string, operatorId: string): Promise<InvitationByLog | undefined> {
      const [newest] = await entriesOf('invitations', { organizationId, subjectId: operatorId })
      return newest?.type === 'operator.invited' ? (dataOf(newest) as unknown as InvitationByLog) : undefined
    },
  }
}
