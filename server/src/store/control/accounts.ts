import type { Queryable, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import { insertRow } from '../power/insert-row.ts'
import type { Seal } from '../power/row-mac.ts'

/** A person who signs in to the console. */
export interface Account {
  id: string
  /** Lower case. */
  email: string
  name: string
  /** Null for an account that signs in by passkey or single sign-on only. */
  password_hash: string | null
  /** Since when signing in with the password asks for a code; null if it does not. */
  two_factor_since: string | null
  created_at: string
  /** The audit entry that made the account so. */
  entry_id: string
}

/** An account before an entry makes it so. */
export type NewAccount = Omit<Account, 'entry_id'>

/** The columns of an account, for queries that pass their rows to `ControlDatabase.genuine`. */
export const ACCOUNT_COLUMNS = 'id, email, name, password_hash, two_factor_since, created_at, entry_id, mac'.split(', ')

/** Adds an account; false if there is one with this e-mail. */
export function insertAccount(control: Queryable, account: NewAccount & Seal): Promise<boolean> {
  return insertRow(control, 'accounts', account)
}

/** Finds an account by e-mail, which must be lower case. An unknown e-mail takes the same steps as a known one. */
export async function findAccountByEmail(control: ControlDatabase, email: string): Promise<Account | undefined> {
  const account = await readAccount(control, 'email = $1', email)
  if (!account) await control.hasEntry({ table: 'accounts', row: { id: email } }, { mayBeCached: true })
  return account
}

/** Finds an account by id. */
export function findAccount(control: ControlDatabase, id: string): Promise<Account | undefined> {
  return readAccount(control, 'id = $1', id)
}

async function readAccount(control: ControlDatabase, where: string, value: string): Promise<Account | undefined> {
  const [row] = await control.genuine('accounts', () =>
    control.query<Account & Seal & Row>(`SELECT ${ACCOUNT_COLUMNS.join(', ')} FROM accounts WHERE ${where}`, [value]),
  )
  if (!row) return undefined
  const { mac: _mac, ...account } = row
  return account
}

/** Stores the next version of an account, except its name; false if another one was stored meanwhile. */
export async function updateAccount(
  control: Queryable,
  { id, password_hash, two_factor_since, entry_id, mac }: Account & Seal,
  { was }: { was: string },
): Promise<boolean> {
  const updated = await control.query(
    `UPDATE accounts SET password_hash = $2, two_factor_since = $3, entry_id = $4, mac = $5
     WHERE id = $1 AND entry_id = $6 RETURNING 1`,
    [id, password_hash, two_factor_since, entry_id, mac, was],
  )
  return updated.length === 1
}

/** Stores another name of an account. */
export async function renameAccount(control: Queryable, { id, name }: { id: string; name: string }): Promise<void> {
  await control.query('UPDATE accounts SET name = $2 WHERE id = $1', [id, name])
}
