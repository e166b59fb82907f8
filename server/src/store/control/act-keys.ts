/** The idempotency keys of acts in the console that write to the control database, with the answers kept under them. */
import type { Queryable, Row } from '../database/database.ts'
import { hexOf, type KeptAnswer } from '../environment/idempotency-keys.ts'

/** An idempotency key of an account. */
export interface ActKey {
  accountId: string
  key: string
}

/** Writes the key of an act; false if it was written before. */
export async function insertActKey(
  control: Queryable,
  { accountId, key }: ActKey,
  { fingerprint, status, body, created_at }: KeptAnswer,
): Promise<boolean> {
  const inserted = await control.query(
    `INSERT INTO act_keys (account_id, key, fingerprint, status, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING RETURNING 1`,
    [accountId, key, hexOf(fingerprint), status, body, created_at],
  )
  return inserted.length === 1
}

/** The answer kept under a key, if the key was written. */
export async function findActKey(control: Queryable, { accountId, key }: ActKey): Promise<KeptAnswer | undefined> {
  const [kept] = await control.query<Omit<KeptAnswer, 'fingerprint'> & { fingerprint: string } & Row>(
    'SELECT fingerprint, status, body, created_at FROM act_keys WHERE account_id = $1 AND key = $2',
    [accountId, key],
  )
  return kept && { ...kept, fingerprint: Buffer.from(kept.fingerprint, 'hex') }
}

/** Adds the answer to a key that was written with its act, when the answer was not known yet. */
export async function updateActKey(
  control: Queryable,
  { accountId, key }: ActKey,
  { status, body }: Pick<KeptAnswer, 'status' | 'body'>,
): Promise<void> {
  await control.query('UPDATE act_keys SET status = $3, body = $4 WHERE account_id = $1 AND key = $2', [
    ...[accountId, key, status, body],
  ])
}
