import { type Database, DatabaseError } from '../database/database.ts'
import type { Account } from './accounts.ts'
import type { Operator } from './operators.ts'

/** SQL: whether an organization has an owner. */
const HAS_OWNER = `EXISTS (SELECT 1 FROM operators WHERE org_id = $1 AND role = 'owner' AND disabled_at IS NULL)`

/** Whether an organization has an owner, so that no link makes a first one any more. */
export async function hasOwner(control: Database, organizationId: string): Promise<boolean> {
  const [row] = await control.query<{ has_owner: boolean }>(`SELECT ${HAS_OWNER} AS has_owner`, [organizationId])
  return row!.has_owner
}

/** Stores the link that makes the first owner, in place of any earlier one. */
export async function replaceFirstLink(
  control: Database,
  { tokenHash, expiresAt }: { tokenHash: string; expiresAt: string },
): Promise<void> {
  await control.query(
    `INSERT INTO first_link (token_hash, expires_at) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
    [tokenHash, expiresAt],
  )
}

/** When the link that makes the first owner expires; undefined if this is not the link, or it has expired. */
export async function firstLinkExpiry(
  control: Database,
  { tokenHash, now }: { tokenHash: string; now: string },
): Promise<string | undefined> {
  const [link] = await control.query<{ expires_at: string }>(
    'SELECT expires_at FROM first_link WHERE token_hash = $1 AND expires_at > $2',
    [tokenHash, now],
  )
  return link?.expires_at
}

/** Deletes the first link, and adds the owner with an account: all or nothing. */
export async function useFirstLink(
  control: Database,
  { tokenHash, account, owner, now }: { tokenHash: string; account: Account; owner: Operator; now: string },
): Promise<'used' | 'no_link' | 'email_taken'> {
  try {
    const added = await control.query(
      `WITH used AS (
         DELETE FROM first_link WHERE token_hash = $2 AND expires_at > $3 AND NOT ${HAS_OWNER} RETURNING 1),
       account AS (
         INSERT INTO accounts (id, email, name, password_hash, created_at) SELECT $4, $5, $6, $7, $3 FROM used RETURNING id)
       INSERT INTO operators (org_id, id, email, name, role, created_at, account_id)
       SELECT $1, $8, $5, $6, $9, $3, account.id FROM account RETURNING 1`,
      [
        owner.org_id,
        tokenHash,
        now,
        account.id,
        account.email,
        account.name,
        account.password_hash,
        owner.id,
        owner.role,
      ],
    )
    return added.length === 1 ? 'used' : 'no_link'
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return 'email_taken'
    throw error
  }
}
