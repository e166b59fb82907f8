import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'

/** A stored API key, with its hash instead of its text. `scopes` are separated by spaces. */
export type ApiKey = RowOf<'api_keys'>

const COLUMNS = columnsOf('api_keys').join(', ')

/** Reads API keys by their hash. */
export async function readApiKeys(database: Database, hashes: readonly string[]): Promise<Map<string, ApiKey>> {
  const rows = await database.query<ApiKey & Row>(
    `SELECT ${COLUMNS} FROM api_keys WHERE key_hash = ANY($1::text[])`,
    [hashes],
    { keepPlan: true },
  )
  return new Map(rows.map((row) => [row.key_hash, row]))
}

/** Lists the keys of an organization, oldest first. */
export async function listApiKeys(database: Database, organizationId: string): Promise<ApiKey[]> {
  return database.query<ApiKey & Row>(`SELECT ${COLUMNS} FROM api_keys WHERE org_id = $1 ORDER BY id`, [organizationId])
}

/** Finds the key with this id, of any organization. */
export async function findApiKey(database: Database, id: string): Promise<ApiKey | undefined> {
  const [row] = await database.query<ApiKey & Row>(`SELECT ${COLUMNS} FROM api_keys WHERE id = $1`, [id])
  return row
}

/** Finds a key of an organization. */
export async function findKeyOf(database: Database, organizationId: string, id: string): Promise<ApiKey | undefined> {
  const [row] = await database.query<ApiKey & Row>(`SELECT ${COLUMNS} FROM api_keys WHERE org_id = $1 AND id = $2`, [
    organizationId,
    id,
  ])
  return row
}

/** Records when keys were last used. */
export async function touchApiKeys(
  database: Database,
  uses: readonly { organizationId: string; keyId: string; at: string }[],
): Promise<void> {
  await database.query(
    `UPDATE api_keys SET last_used_at = used.at
     FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS used (org_id, id, at)
     WHERE api_keys.org_id = used.org_id AND api_keys.id = used.id`,
    [uses.map((use) => use.organizationId), uses.map((use) => use.keyId), uses.map((use) => use.at)],
  )
}
