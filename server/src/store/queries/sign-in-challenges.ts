import type { Database, Queryable } from '../database/database.ts'

/** What the second half of an exchange in two steps does. */
export type ChallengePurpose = 'code' | 'passkey_add' | 'oidc_connect'

/** A challenge: the first half of an exchange in two steps. */
export interface Challenge {
  token_hash: string
  purpose: ChallengePurpose
  account_id: string
  expires_at: string
}

/** Rows that one challenge deletes of those that have expired. */
const PURGED_AT_ONCE = 100

/** Adds a challenge, and deletes some that have expired, so that the table needs no other upkeep. */
export async function insertChallenge(
  control: Database,
  { token_hash, purpose, account_id, expires_at }: Challenge,
  now: string,
): Promise<void> {
  await control.query(
    `WITH expired AS (
       DELETE FROM sign_in_challenges WHERE token_hash IN (
         SELECT token_hash FROM sign_in_challenges WHERE expires_at <= $5::timestamptz
         ORDER BY expires_at LIMIT ${PURGED_AT_ONCE}))
     INSERT INTO sign_in_challenges (token_hash, purpose, account_id, expires_at) VALUES ($1, $2, $3, $4)`,
    [token_hash, purpose, account_id, expires_at, now],
  )
}

/** Finds the account of a challenge that has not expired. */
export async function findChallenge(
  control: Database,
  { tokenHash, purpose, now }: { tokenHash: string; purpose: ChallengePurpose; now: string },
): Promise<{ account_id: string } | undefined> {
  const [challenge] = await control.query<{ account_id: string }>(
    'SELECT account_id FROM sign_in_challenges WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3',
    [tokenHash, purpose, now],
  )
  return challenge
}

/** Takes a challenge, which works once; undefined if it was taken, has expired or has another purpose. */
export async function takeChallenge(
  control: Database,
  { tokenHash, purpose, now }: { tokenHash: string; purpose: ChallengePurpose; now: string },
): Promise<{ account_id: string } | undefined> {
  const [challenge] = await control.query<{ account_id: string }>(
    `DELETE FROM sign_in_challenges WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3 RETURNING account_id`,
    [tokenHash, purpose, now],
  )
  return challenge
}

/** Ends the exchanges that an account began, such as a sign-in with a password that was changed since. */
export async function deleteChallenges(control: Queryable, accountId: string): Promise<void> {
  await control.query('DELETE FROM sign_in_challenges WHERE account_id = $1', [accountId])
}
