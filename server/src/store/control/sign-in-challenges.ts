import type { Database, Queryable, Row } from '../database/database.ts'

/** What the second half of an exchange in two steps does. */
export type ChallengePurpose = 'code' | 'passkey_add' | 'oidc_connect'

/** A challenge: the first half of an exchange in two steps. */
export interface Challenge {
  token_hash: string
  purpose: ChallengePurpose
  account_id: string
  expires_at: string
  /** Binds the challenge to its account, as the account was. */
  mac: string
}

/** What a challenge is checked by, besides its token and purpose. */
export type ChallengeRow = Pick<Challenge, 'account_id' | 'expires_at' | 'mac'>

/** Adds a challenge. */
export async function insertChallenge(
  control: Database,
  { token_hash, purpose, account_id, expires_at, mac }: Challenge,
): Promise<void> {
  await control.query(
    'INSERT INTO sign_in_challenges (token_hash, purpose, account_id, expires_at, mac) VALUES ($1, $2, $3, $4, $5)',
    [token_hash, purpose, account_id, expires_at, mac],
  )
}

/** Finds a challenge that has not expired. */
export async function findChallenge(
  control: Database,
  { tokenHash, purpose, now }: { tokenHash: string; purpose: ChallengePurpose; now: string },
): Promise<ChallengeRow | undefined> {
  const [challenge] = await control.query<ChallengeRow & Row>(
    'SELECT account_id, expires_at, mac FROM sign_in_challenges WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3',
    [tokenHash, purpose, now],
  )
  return challenge
}

/** Takes a challenge, which works once; undefined if it was taken, has expired or has another purpose. */
export async function takeChallenge(
  control: Database,
  { tokenHash, purpose, now }: { tokenHash: string; purpose: ChallengePurpose; now: string },
): Promise<ChallengeRow | undefined> {
  const [challenge] = await control.query<ChallengeRow & Row>(
    `DELETE FROM sign_in_challenges WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3 RETURNING account_id, expires_at, mac`,
    [tokenHash, purpose, now],
  )
  return challenge
}

/** Ends the exchanges that an account began, such as a sign-in with a password that was changed since. */
export async function deleteChallenges(control: Queryable, accountId: string): Promise<void> {
  await control.query('DELETE FROM sign_in_challenges WHERE account_id = $1', [accountId])
}
