import { type Database, DatabaseError, type Row } from '../database/database.ts'

/** What the database knows of the master keys of its installation. */
export interface StoredKeys {
  /** The check value of the current master key. */
  master_key_check: string
  /** All retired ones, encrypted with the current master key; null if there is none. */
  retired_master_keys: string | null
  /** The check value of the key that a rotation is about to bring; null if no rotation is under way. */
  next_master_key_check: string | null
}

/** Reads what the database knows of the master keys; undefined if no node has ever started on it. */
export async function readStoredKeys(control: Database): Promise<StoredKeys | undefined> {
  try {
    const [keys] = await control.query<StoredKeys & Row>(
      'SELECT master_key_check, retired_master_keys, next_master_key_check FROM installation',
    )
    return keys
  } catch (error) {
    if (error instanceof DatabaseError && error.isNotSetUp) return undefined
    throw error
  }
}

/** Notes that a rotation has begun; false if another one is under way. */
export async function beginKeyRotation(control: Database, nextCheck: string): Promise<boolean> {
  const begun = await control.query(
    'UPDATE installation SET next_master_key_check = $1 WHERE next_master_key_check IS NULL RETURNING 1',
    [nextCheck],
  )
  return begun.length === 1
}

/** Makes the next master key the current one, in one statement; false if another rotation is under way. */
export async function endKeyRotation(
  control: Database,
  { check, encryptedRetired }: { check: string; encryptedRetired: string },
): Promise<boolean> {
  // A second run that was held up must not undo a later rotation.
  const ended = await control.query(
    `UPDATE installation SET master_key_check = $1, retired_master_keys = $2, next_master_key_check = NULL
     WHERE next_master_key_check = $1 RETURNING 1`,
    [check, encryptedRetired],
  )
  return ended.length === 1
}
