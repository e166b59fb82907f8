import type { Database, Row } from '../database/database.ts'

/** A person who signs in to the console. */
export interface Account {
  id: string
  /** Lower case. */
  email: string
  name: string
  /** Null for an account that signs in by passkey or single sign-on only. */
  password_hash: string | null
  created_at: string
}

const COLUMNS = 'id, email, name, password_hash, created_at'

/** Adds an account; false if there is one with this e-mail. */
export async function insertAccount(control: Database, account: Account): Promise<boolean> {
  const { id, email, name, password_hash, created_at } = account
  const inserted = await control.query(
    `INSERT INTO accounts (${COLUMNS}) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1`,
    [id, email, name, password_hash, created_at],
  )
  return inserted.length === 1
}

/** Finds an account by e-mail, which must be lower case. */
export async function findAccountByEmail(control: Database, email: string): Promise<Account | undefined> {
  const [account] = await control.query<Account & Row>(`SELECT ${COLUMNS} FROM accounts WHERE email = $1`, [email])
  return account
}

/** Finds an account by id. */
export async function findAccount(control: Database, id: string): Promise<Account | undefined> {
  const [account] = await control.query<Account & Row>(`SELECT ${COLUMNS} FROM accounts WHERE id = $1`, [id])
  return account
}

/**
 * Stores another password of an account, and ends the exchanges that the earlier one began; false if the stored one is
 * no longer `earlierHash`.
 */
export async function updatePassword(
  control: Database,
  { accountId, passwordHash, earlierHash }: { accountId: string; passwordHash: string; earlierHash: string | null },
): Promise<boolean> {
  const updated = await control.query(
    `WITH updated AS (
       UPDATE accounts SET password_hash = $2 WHERE id = $1 AND password_hash IS NOT DISTINCT FROM $3 RETURNING id),
     ended AS (DELETE FROM sign_in_challenges AS challenge USING updated WHERE challenge.account_id = updated.id)
     SELECT 1 FROM updated`,
    [accountId, passwordHash, earlierHash],
  )
  return updated.length === 1
}

/** Stores another name of an account. */
export async function renameAccount(control: Database, { id, name }: { id: string; name: string }): Promise<void> {
  await control.query('UPDATE accounts SET name = $2 WHERE id = $1', [id, name])
}
