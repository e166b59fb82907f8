import type { ApprovalLimit } from '../../core/approval-limits.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { recordSha256 } from '../write-path/record-hash.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** Reads of who may approve how much, and of first signatures: what the log confirms, which SQL alone cannot widen. */
export function approvalQueries(database: Database, isAuthentic: IsAuthentic) {
  const entriesAbout = (organizationId: string, subjectId: string, type: string) =>
    database.query<StoredEntry & Row>(
      `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
       WHERE org_id = $1 AND subject_id = $2 AND type = $3 AND actor_type <> 'api_key' ORDER BY seq DESC`,
      [organizationId, subjectId, type],
    )
  return {
    /** The approval limits of this environment, as the log recorded them last; none until an owner sets one. */
    async limits(organizationId: string): Promise<readonly ApprovalLimit[]> {
      const newest = (await entriesAbout(organizationId, organizationId, 'approval_limits.changed')).find(isAuthentic)
      return newest ? (dataOf(newest).to as readonly ApprovalLimit[]) : []
    },

    /** The signature with this id; undefined if there is none, or one that the log does not confirm. */
    async signature(organizationId: string, id: string): Promise<RowOf<'case_signatures'> | undefined> {
      const [row] = await database.query<RowOf<'case_signatures'> & Row>(
        `SELECT ${columnsOf('case_signatures').join(', ')} FROM case_signatures WHERE org_id = $1 AND id = $2`,
        [organizationId, id],
      )
      if (!row) return undefined
      const [entry] = await entriesAbout(organizationId, id, 'case.signature_due')
      const recorded = entry && isAuthentic(entry) ? dataOf(entry).record_sha256 : undefined
      return recorded === recordSha256<'case_signatures'>(organizationId, row) ? row : undefined
    },
  }
}
