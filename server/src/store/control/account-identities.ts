import type { Queryable, Row } from '../database/database.ts'
import type { AfterEntry, ControlDatabase } from '../power/control-database.ts'
import { insertRow } from '../power/insert-row.ts'
import type { Seal } from '../power/row-mac.ts'

/** A person at an identity provider. */
export interface Identity {
  issuer: string
  subject: string
}

/** A person at an identity provider, and the account that they sign in to. */
export interface AccountIdentity extends Identity {
  account_id: string
  created_at: string
}

/** The account that a person at an identity provider signs in to. */
export async function accountOfIdentity(
  control: ControlDatabase,
  { issuer, subject }: Identity,
): Promise<string | undefined> {
  const [row] = await readIdentities(control, 'issuer = $1 AND subject = $2', [issuer, subject])
  return row?.account_id
}

function readIdentities(
  control: ControlDatabase,
  where: string,
  params: readonly string[],
): Promise<AccountIdentity[]> {
  return control.genuine('account_identities', () =>
    control.query<AccountIdentity & Row>(
      `SELECT issuer, subject, account_id, created_at, after_entry_id, entry_id, mac FROM account_identities WHERE ${where}`,
      params,
    ),
  )
}

/** Lets a person at an identity provider sign in to an account; false if they sign in to one already. */
export function insertIdentity(control: Queryable, identity: AccountIdentity & AfterEntry & Seal): Promise<boolean> {
  return insertRow(control, 'account_identities', identity)
}

/**
 * Does something to an account that a person at an identity provider signs in to; false if they no longer do. An invitation
 * takes up an account that acts for no organization, and ends its sign-ins: a person who signed in before it must not give
 * the account of its reader a role.
 */
export async function whileIdentityHolds(
  transaction: Queryable,
  { issuer, subject, accountId }: Identity & { accountId: string },
  act: () => Promise<boolean>,
): Promise<boolean> {
  // Locked by a statement of its own, so that the next one sees what another transaction has done to the account.
  await transaction.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [accountId])
  const held = await transaction.query(
    'SELECT 1 FROM account_identities WHERE issuer = $1 AND subject = $2 AND account_id = $3',
    [issuer, subject, accountId],
  )
  return held.length === 1 && (await act())
}

/** Whether a person at an identity provider signs in to an account. */
export async function hasIdentity(control: ControlDatabase, accountId: string): Promise<boolean> {
  return (await readIdentities(control, 'account_id = $1', [accountId])).length > 0
}

/** Takes every sign-in through an identity provider from an account, and returns how many there were. */
export async function deleteIdentities(control: Queryable, accountId: string): Promise<number> {
  return (await control.query('DELETE FROM account_identities WHERE account_id = $1 RETURNING 1', [accountId])).length
}
