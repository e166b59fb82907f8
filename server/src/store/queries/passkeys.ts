import type { Database, Row } from '../database/database.ts'

/** A passkey of an account. */
export interface Passkey {
  id: string
  account_id: string
  /** Base64url, as the authenticator names it. */
  credential_id: string
  /** COSE key in base64url. */
  public_key: string
  sign_count: number
  /** Separated by spaces. */
  transports: string
  name: string
  created_at: string
  last_used_at: string | null
}

const COLUMNS = 'id, account_id, credential_id, public_key, sign_count, transports, name, created_at, last_used_at'

/** Adds a passkey; false if its credential is known already. */
export async function insertPasskey(control: Database, passkey: Passkey): Promise<boolean> {
  const inserted = await control.query(
    `INSERT INTO passkeys (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING 1`,
    [
      passkey.id,
      passkey.account_id,
      passkey.credential_id,
      passkey.public_key,
      passkey.sign_count,
      passkey.transports,
      passkey.name,
      passkey.created_at,
      passkey.last_used_at,
    ],
  )
  return inserted.length === 1
}

/** Lists the passkeys of an account, oldest first. */
export async function listPasskeys(control: Database, accountId: string): Promise<Passkey[]> {
  return control.query<Passkey & Row>(`SELECT ${COLUMNS} FROM passkeys WHERE account_id = $1 ORDER BY id`, [accountId])
}

/** Finds a passkey by the id of its credential. */
export async function findPasskey(control: Database, credentialId: string): Promise<Passkey | undefined> {
  const [passkey] = await control.query<Passkey & Row>(`SELECT ${COLUMNS} FROM passkeys WHERE credential_id = $1`, [
    credentialId,
  ])
  return passkey
}

/** Notes that a passkey was used, with its counter; false if it was removed or used with the same counter meanwhile. */
export async function notePasskeyUse(
  control: Database,
  { id, earlierCount, signCount, now }: { id: string; earlierCount: number; signCount: number; now: string },
): Promise<boolean> {
  const noted = await control.query(
    'UPDATE passkeys SET sign_count = $3, last_used_at = $4 WHERE id = $1 AND sign_count = $2 RETURNING 1',
    [id, earlierCount, signCount, now],
  )
  return noted.length === 1
}

/** Removes a passkey of an account; false if it has none with this id. */
export async function deletePasskey(
  control: Database,
  { accountId, id }: { accountId: string; id: string },
): Promise<boolean> {
  const deleted = await control.query('DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING 1', [
    accountId,
    id,
  ])
  return deleted.length === 1
}
