import type { Database } from '../database/database.ts'

/** Rows that one use deletes of those that have expired. */
const PURGED_AT_ONCE = 100

/** Notes that a challenge, or the state of a sign-in through the identity provider, was used; false if it was before. Deletes some that have expired by now anyway. */
export async function noteChallengeUse(
  control: Database,
  { tokenHash, expiresAt, now }: { tokenHash: string; expiresAt: string; now: string },
): Promise<boolean> {
  const noted = await control.query(
    `WITH expired AS (
       DELETE FROM used_challenges WHERE token_hash IN (
         SELECT token_hash FROM used_challenges WHERE expires_at <= $3::timestamptz AND token_hash <> $1
         ORDER BY expires_at LIMIT ${PURGED_AT_ONCE}))
     INSERT INTO used_challenges (token_hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1`,
    [tokenHash, expiresAt, now],
  )
  return noted.length === 1
}
