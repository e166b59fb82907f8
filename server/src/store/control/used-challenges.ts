import type { Database } from '../database/database.ts'

/** Notes that a challenge, or the state of a sign-in through the identity provider, was used; false if it was before. */
export async function noteChallengeUse(
  control: Database,
  { tokenHash, expiresAt }: { tokenHash: string; expiresAt: string },
): Promise<boolean> {
  const noted = await control.query(
    'INSERT INTO used_challenges (token_hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1',
    [tokenHash, expiresAt],
  )
  return noted.length === 1
}
