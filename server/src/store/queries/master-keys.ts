import { type Database, DatabaseError, type Row } from '../database/database.ts'

/** What the database knows of the master keys of its installation. */
export interface StoredKeys {
  /** The check value of the current master key. */
  master_key_check: string
  /** Newest first, each encrypted with the current master key. */
  retired_master_keys: string[]
  /** The key that a rotation is about to bring, encrypted with the current one; null if no rotation is under way. */
  next_master_key: string | null
}

/** Reads what the database knows of the master keys; undefined if no node has ever started on it. */
export async function readStoredKeys(control: Database): Promise<StoredKeys | undefined> {
  try {
    const [keys] = await control.query<StoredKeys & Row>(
      'SELECT master_key_check, retired_master_keys, next_master_key FROM installation',
    )
    return keys
  } catch (error) {
    if (error instanceof DatabaseError && error.isNotSetUp) return undefined
    throw error
  }
}

/** Notes that a rotation has begun; false if another one is under way. */
export async function beginKeyRotation(control: Database, encryptedNext: string): Promise<boolean> {
  const begun = await control.query(
    'UPDATE installation SET next_master_key = $1 WHERE next_master_key IS NULL RETURNING 1',
    [encryptedNext],
  )
  return begun.length === 1
}

/** Makes the next master key the current one, in one statement: no moment has neither or both. */
export async function endKeyRotation(
  control: Database,
  { check, encryptedRetired }: { check: string; encryptedRetired: readonly string[] },
): Promise<void> {
  await control.query(
    'UPDATE installation SET master_key_check = $1, retired_master_keys = $2::text[], next_master_key = NULL',
    [check, encryptedRetired],
  )
}
