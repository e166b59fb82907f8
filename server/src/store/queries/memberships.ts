import type { Database, Row } from '../database/database.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** An operator as whom an account joined an organization. */
export interface Membership {
  organizationId: string
  operatorId: string
  isRemoved: boolean
}

/** For whom accounts act by the log of people: SQL can take away the row of an operator, and not the entries about it. */
export function membershipQueries(database: Database, isAuthentic: IsAuthentic) {
  return {
    /** The operators as whom these accounts joined, in all organizations, removed ones included. */
    async membershipsOf(accountIds: readonly string[]): Promise<Membership[]> {
      // Not checked by their MAC: a forged entry only keeps an account from being taken up.
      const joined = await database.query<{ org_id: string; subject_id: string }>(
        `SELECT DISTINCT org_id, subject_id FROM audit_entries
         WHERE type = 'operator.joined' AND data::jsonb ->> 'account_id' = ANY($1::text[])`,
        [accountIds],
      )
      const removals = await database.query<StoredEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf
         FROM unnest($1::text[], $2::text[]) AS joined (org_id, subject_id)
         JOIN audit_entries AS entry ON entry.org_id = joined.org_id AND entry.subject_id = joined.subject_id
           AND entry.type = 'operator.removed' AND entry.actor_type <> 'api_key'`,
        [joined.map(({ org_id }) => org_id), joined.map(({ subject_id }) => subject_id)],
      )
      const removed = new Set(removals.filter(isAuthentic).map(({ subject_id }) => subject_id))
      return joined.map(({ org_id, subject_id }) => ({
        organizationId: org_id,
        operatorId: subject_id,
        isRemoved: removed.has(subject_id),
      }))
    },

    /** The accounts that the person with this `identityId` at an identity provider signs in to, or once did. */
    async accountsOfIdentity(organizationId: string, identityId: string): Promise<string[]> {
      const rows = await database.query<{ account_id: string }>(
        `SELECT DISTINCT data::jsonb ->> 'account_id' AS account_id FROM audit_entries
         WHERE org_id = $1 AND subject_id = $2 AND type = 'account.identity_connected' AND actor_type <> 'api_key'`,
        [organizationId, identityId],
      )
      return rows.map(({ account_id }) => account_id)
    },
  }
}
