import type { Database } from '../src/store/database/database.ts'

const COLUMNS = 'org_id, flush, entry_ids, leaf_hashes, mac'

/** Moves sealed lists of entries back to those that wait, as a database administrator could. */
export async function unseal(database: Database, where: string, params: readonly unknown[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.script('ALTER TABLE audit_flushes DISABLE TRIGGER USER')
    await transaction.query(
      `WITH moved AS (DELETE FROM audit_flushes WHERE ${where} RETURNING ${COLUMNS})
       INSERT INTO audit_pending (${COLUMNS}) SELECT ${COLUMNS} FROM moved`,
      params,
    )
    await transaction.script('ALTER TABLE audit_flushes ENABLE TRIGGER USER')
  })
}

/** Gives a list of entries that waits its first leaf with SQL, past the sealer. */
export async function sealWithSql(
  database: Database,
  { organizationId, firstEntryId, firstLeaf }: { organizationId: string; firstEntryId: string; firstLeaf: number },
): Promise<void> {
  await database.query(
    `WITH moved AS (DELETE FROM audit_pending WHERE org_id = $1 AND left(entry_ids, 26) = substr($2, 5) RETURNING ${COLUMNS})
     INSERT INTO audit_flushes (${COLUMNS}, first_leaf) SELECT ${COLUMNS}, $3::bigint FROM moved`,
    [organizationId, firstEntryId, firstLeaf],
  )
}
