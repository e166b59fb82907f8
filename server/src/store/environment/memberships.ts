import type { Database, Row } from '../database/database.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** An operator as whom an account joined an organization, or was restored. */
export interface Membership {
  organizationId: string
  operatorId: string
  isRemoved: boolean
}

/** For whom accounts act by the log of people: SQL can take away the row of an operator, and not the entries about it. */
export function membershipQueries(database: Database, isAuthentic: IsAuthentic) {
  return {
    /** The operators as whom these accounts joined or were restored, in all organizations, removed ones included. */
    async memberships(accountIds: readonly string[]): Promise<Membership[]> {
      // Not checked by their MAC: a forged entry only keeps an account from being taken up.
      const members = await database.query<{ org_id: string; subject_id: string }>(
        `SELECT DISTINCT org_id, subject_id FROM audit_entries
         WHERE type IN ('operator.joined', 'access.restored') AND data::jsonb ->> 'account_id' = ANY($1::text[])`,
        [accountIds],
      )
      const changes = await database.query<StoredEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf
         FROM unnest($1::text[], $2::text[]) AS member (org_id, subject_id)
         JOIN audit_entries AS entry ON entry.org_id = member.org_id AND entry.subject_id = member.subject_id
           AND entry.type IN ('operator.removed', 'access.restored') AND entry.actor_type <> 'api_key'
         ORDER BY entry.seq`,
        [members.map(({ org_id }) => org_id), members.map(({ subject_id }) => subject_id)],
      )
      // The newest of an operator comes last, and counts.
      const isRemoved = new Map(changes.filter(isAuthentic).map((entry) => [entry.subject_id, saysRemoved(entry)]))
      return members.map(({ org_id, subject_id }) => ({
        organizationId: org_id,
        operatorId: subject_id,
        isRemoved: isRemoved.get(subject_id) ?? false,
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

function saysRemoved(entry: StoredEntry): boolean {
  return entry.type === 'operator.removed' || dataOf(entry).is_removed === true
}
