import type { Queryable, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import { insertRow } from '../power/insert-row.ts'
import type { Seal } from '../power/row-mac.ts'

/** The secret of an account's authenticator app. */
export interface AccountCodes {
  account_id: string
  /** Encrypted. */
  secret: string
  last_step: number
  /** Null until the first right code: only then signing in asks for codes. */
  confirmed_at: string | null
}

/** A recovery code, as it is stored. */
export interface RecoveryCode {
  account_id: string
  code_hash: string
}

const COLUMNS = 'account_id, secret, last_step, confirmed_at, entry_id, mac'

/** Reads the codes of an account that were confirmed. */
export async function findAccountCodes(control: ControlDatabase, accountId: string): Promise<AccountCodes | undefined> {
  const [codes] = await control.genuine('account_codes', () =>
    control.query<AccountCodes & Row>(
      `SELECT ${COLUMNS} FROM account_codes WHERE account_id = $1 AND confirmed_at IS NOT NULL`,
      [accountId],
    ),
  )
  return codes
}

/** Reads the secret of an account that waits for its first right code: it grants nothing yet. */
export async function findProposedCodes(control: Queryable, accountId: string): Promise<AccountCodes | undefined> {
  const [codes] = await control.query<AccountCodes & Row>(
    `SELECT ${COLUMNS} FROM account_codes WHERE account_id = $1 AND confirmed_at IS NULL`,
    [accountId],
  )
  return codes
}

/** Stores a secret that is not confirmed yet; false if the account has a confirmed one. */
export async function proposeAccountCodes(
  control: Queryable,
  { accountId, secret }: { accountId: string; secret: string },
): Promise<boolean> {
  const stored = await control.query(
    `INSERT INTO account_codes AS earlier (account_id, secret, last_step) VALUES ($1, $2, 0)
     ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, last_step = 0 WHERE earlier.confirmed_at IS NULL
     RETURNING 1`,
    [accountId, secret],
  )
  return stored.length === 1
}

/** Accepts the code of a step; false if this code or a newer one was accepted meanwhile, or the secret was replaced. */
export async function acceptAccountCode(
  control: Queryable,
  { accountId, secret, step }: { accountId: string; secret: string; step: number },
): Promise<boolean> {
  const accepted = await control.query(
    'UPDATE account_codes SET last_step = $3 WHERE account_id = $1 AND secret = $2 AND last_step < $3 RETURNING 1',
    [accountId, secret, step],
  )
  return accepted.length === 1
}

/** Confirms the secret of an account; false if it was confirmed or replaced before. */
export async function confirmAccountCodes(
  control: Queryable,
  { account_id, secret, confirmed_at, entry_id, mac }: AccountCodes & Seal,
): Promise<boolean> {
  const confirmed = await control.query(
    `UPDATE account_codes SET confirmed_at = $3, entry_id = $4, mac = $5
     WHERE account_id = $1 AND secret = $2 AND confirmed_at IS NULL RETURNING 1`,
    [account_id, secret, confirmed_at, entry_id, mac],
  )
  return confirmed.length === 1
}

/** Reads the recovery codes of an account that still work. */
export function listRecoveryCodes(
  control: ControlDatabase,
  accountId: string,
): Promise<(RecoveryCode & { entry_id: string })[]> {
  return control.genuine('recovery_codes', () =>
    control.query<RecoveryCode & Seal & Row>(
      'SELECT account_id, code_hash, entry_id, mac FROM recovery_codes WHERE account_id = $1 ORDER BY code_hash',
      [accountId],
    ),
  )
}

/** Stores other recovery codes of an account; the earlier ones no longer work. */
export async function replaceRecoveryCodes(
  control: Queryable,
  { accountId, codes }: { accountId: string; codes: readonly (RecoveryCode & Seal)[] },
): Promise<void> {
  await control.query('DELETE FROM recovery_codes WHERE account_id = $1', [accountId])
  for (const code of codes) await insertRow(control, 'recovery_codes', code)
}

/** Takes a recovery code, which works once; false if it was taken meanwhile. The account is locked until the transaction ends. */
export async function takeRecoveryCode(
  control: Queryable,
  { accountId, codeHash, was }: { accountId: string; codeHash: string; was: string },
): Promise<boolean> {
  await control.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [accountId])
  const taken = await control.query(
    'DELETE FROM recovery_codes WHERE account_id = $1 AND code_hash = $2 AND entry_id = $3 RETURNING 1',
    [accountId, codeHash, was],
  )
  return taken.length === 1
}

/** Deletes the secret and the recovery codes of an account: signing in no longer asks for a code. */
export async function deleteAccountCodes(control: Queryable, accountId: string): Promise<void> {
  await control.query('DELETE FROM recovery_codes WHERE account_id = $1', [accountId])
  await control.query('DELETE FROM account_codes WHERE account_id = $1', [accountId])
}
