import type { Queryable, Row } from '../database/database.ts'
import type { AfterEntry, ControlDatabase } from '../power/control-database.ts'
import { insertRow } from '../power/insert-row.ts'
import type { Seal } from '../power/row-mac.ts'

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

const COLUMNS = `id, account_id, credential_id, public_key, sign_count, transports, name, created_at, last_used_at,
  after_entry_id, entry_id, mac`

/** Adds a passkey; false if its credential is known already. */
export function insertPasskey(control: Queryable, passkey: Passkey & AfterEntry & Seal): Promise<boolean> {
  return insertRow(control, 'passkeys', passkey)
}

/** Lists the passkeys of an account, oldest first. */
export function listPasskeys(control: ControlDatabase, accountId: string): Promise<Passkey[]> {
  return readPasskeys(control, 'account_id = $1 ORDER BY id', accountId)
}

/** Finds a passkey by the id of its credential. */
export async function findPasskey(control: ControlDatabase, credentialId: string): Promise<Passkey | undefined> {
  return (await readPasskeys(control, 'credential_id = $1', credentialId))[0]
}

function readPasskeys(control: ControlDatabase, where: string, value: string): Promise<Passkey[]> {
  return control.genuine('passkeys', () =>
    control.query<Passkey & Row>(`SELECT ${COLUMNS} FROM passkeys WHERE ${where}`, [value]),
  )
}

/** Notes that a passkey was used, with its counter; false if it was removed or used with the same counter meanwhile. */
export async function notePasskeyUse(
  control: Queryable,
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
  control: Queryable,
  { accountId, id }: { accountId: string; id: string },
): Promise<boolean> {
  const deleted = await control.query('DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING 1', [
    accountId,
    id,
  ])
  return deleted.length === 1
}
