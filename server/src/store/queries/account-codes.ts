import type { Database, Row } from '../database/database.ts'

/** The secret of an account's authenticator app. */
export interface AccountCodes {
  /** Encrypted. */
  secret: string
  last_step: number
  /** Null until the first right code: only then signing in asks for codes. */
  confirmed_at: string | null
}

/** Reads the codes of an account. */
export async function findAccountCodes(control: Database, accountId: string): Promise<AccountCodes | undefined> {
  const [codes] = await control.query<AccountCodes & Row>(
    'SELECT secret, last_step, confirmed_at FROM account_codes WHERE account_id = $1',
    [accountId],
  )
  return codes
}

/** Stores a secret that is not confirmed yet; false if the account has a confirmed one. */
export async function proposeAccountCodes(
  control: Database,
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
  control: Database,
  { accountId, secret, step }: { accountId: string; secret: string; step: number },
): Promise<boolean> {
  const accepted = await control.query(
    'UPDATE account_codes SET last_step = $3 WHERE account_id = $1 AND secret = $2 AND last_step < $3 RETURNING 1',
    [accountId, secret, step],
  )
  return accepted.length === 1
}

/** Confirms the secret of an account, and stores its recovery codes; false if it was confirmed before. */
export async function confirmAccountCodes(
  control: Database,
  { accountId, codeHashes, now }: { accountId: string; codeHashes: readonly string[]; now: string },
): Promise<boolean> {
  const confirmed = await control.query(
    `WITH confirmed AS (
       UPDATE account_codes SET confirmed_at = $3 WHERE account_id = $1 AND confirmed_at IS NULL RETURNING account_id)
     INSERT INTO recovery_codes (account_id, code_hash)
     SELECT account_id, code_hash FROM confirmed, unnest($2::text[]) AS code_hash RETURNING 1`,
    [accountId, codeHashes, now],
  )
  return confirmed.length > 0
}

/** Stores other recovery codes of an account; the earlier ones no longer work. */
export async function replaceRecoveryCodes(
  control: Database,
  { accountId, codeHashes }: { accountId: string; codeHashes: readonly string[] },
): Promise<void> {
  await control.query(
    `WITH earlier AS (DELETE FROM recovery_codes WHERE account_id = $1)
     INSERT INTO recovery_codes (account_id, code_hash) SELECT $1, code_hash FROM unnest($2::text[]) AS code_hash`,
    [accountId, codeHashes],
  )
}

/** Takes a recovery code, which works once; returns how many are left, or undefined if it is none of the account's. */
export async function takeRecoveryCode(
  control: Database,
  { accountId, codeHash }: { accountId: string; codeHash: string },
): Promise<number | undefined> {
  const taken = await control.query('DELETE FROM recovery_codes WHERE account_id = $1 AND code_hash = $2 RETURNING 1', [
    accountId,
    codeHash,
  ])
  return taken.length === 1 ? countRecoveryCodes(control, accountId) : undefined
}

/** Counts the recovery codes that an account has left. */
export async function countRecoveryCodes(control: Database, accountId: string): Promise<number> {
  const [row] = await control.query<{ count: number }>(
    'SELECT count(*) AS count FROM recovery_codes WHERE account_id = $1',
    [accountId],
  )
  return row!.count
}

/** Deletes the secret and the recovery codes of an account: signing in no longer asks for a code. */
export async function deleteAccountCodes(control: Database, accountId: string): Promise<void> {
  await control.query(
    `WITH recovery AS (DELETE FROM recovery_codes WHERE account_id = $1) DELETE FROM account_codes WHERE account_id = $1`,
    [accountId],
  )
}
