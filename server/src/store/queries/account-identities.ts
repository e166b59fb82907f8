import { type Database, DatabaseError, type Queryable } from '../database/database.ts'
import type { Account } from './accounts.ts'

/** A person at an identity provider. */
export interface Identity {
  issuer: string
  subject: string
}

/** The account that a person at an identity provider signs in to. */
export async function accountOfIdentity(control: Database, { issuer, subject }: Identity): Promise<string | undefined> {
  const [row] = await control.query<{ account_id: string }>(
    'SELECT account_id FROM account_identities WHERE issuer = $1 AND subject = $2',
    [issuer, subject],
  )
  return row?.account_id
}

/** Lets a person at an identity provider sign in to an account; false if they sign in to one already. */
export async function insertIdentity(
  control: Database,
  { issuer, subject, accountId, now }: Identity & { accountId: string; now: string },
): Promise<boolean> {
  const inserted = await control.query(
    `INSERT INTO account_identities (issuer, subject, account_id, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING 1`,
    [issuer, subject, accountId, now],
  )
  return inserted.length === 1
}

/** Adds an account that a person at an identity provider signs in to, both or neither; false if either exists. */
export async function insertAccountWithIdentity(
  control: Database,
  { account, issuer, subject }: Identity & { account: Account },
): Promise<boolean> {
  const { id, email, name, password_hash, created_at } = account
  try {
    await control.query(
      `WITH added AS (
         INSERT INTO accounts (id, email, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5) RETURNING id)
       INSERT INTO account_identities (issuer, subject, account_id, created_at) SELECT $6, $7, added.id, $5 FROM added`,
      [id, email, name, password_hash, created_at, issuer, subject],
    )
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return false
    throw error
  }
}

/**
 * Does something to an account that a person at an identity provider signs in to; false if they no longer do. An invitation
 * takes up an account that acts for no organization, and ends its sign-ins: a person who signed in before it must not give
 * the account of its reader a role.
 */
export async function whileIdentityHolds(
  control: Database,
  { issuer, subject, accountId }: Identity & { accountId: string },
  act: (transaction: Queryable) => Promise<boolean>,
): Promise<boolean> {
  return control.transaction(async (transaction) => {
    // Locked by a statement of its own, so that the next one sees what another transaction has done to the account.
    await transaction.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [accountId])
    const held = await transaction.query(
      'SELECT 1 FROM account_identities WHERE issuer = $1 AND subject = $2 AND account_id = $3',
      [issuer, subject, accountId],
    )
    return held.length === 1 && (await act(transaction))
  })
}

/** Whether a person at an identity provider signs in to an account. */
export async function hasIdentity(control: Database, accountId: string): Promise<boolean> {
  const rows = await control.query('SELECT 1 FROM account_identities WHERE account_id = $1 LIMIT 1', [accountId])
  return rows.length === 1
}

/** Takes every sign-in through an identity provider from an account, and returns how many there were. */
export async function deleteIdentities(control: Database, accountId: string): Promise<number> {
  return (await control.query('DELETE FROM account_identities WHERE account_id = $1 RETURNING 1', [accountId])).length
}

/** Whether an account has a passkey. */
export async function hasPasskey(control: Database, accountId: string): Promise<boolean> {
  return (await control.query('SELECT 1 FROM passkeys WHERE account_id = $1 LIMIT 1', [accountId])).length === 1
}
