import type { KeyObject } from 'node:crypto'
import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import type { RefusedRows } from '../power/refused-rows.ts'
import { hasValidSeal } from '../power/row-mac.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'

/** A stored API key, with its hash instead of its text. `scopes` are separated by spaces. */
export type ApiKey = RowOf<'api_keys'>

type Read = ApiKey & { newest_entry_id: string | null }

/** The newest entry comes with the key, so that authenticating a request takes one round trip. */
const SELECT = `SELECT ${columnsOf('api_keys')
  .map((column) => `key.${column}`)
  .join(', ')}, newest.id AS newest_entry_id
  FROM api_keys AS key LEFT JOIN LATERAL (
    SELECT id FROM audit_entries AS entry WHERE entry.org_id = key.org_id AND entry.trail_id = key.id
    ORDER BY entry.seq DESC LIMIT 1) AS newest ON true`

/** Reads of API keys. Keys that this service did not write so, or that are an earlier version, are left out. */
export function apiKeyQueries(
  database: Database,
  { rowKey, refusedRows }: { rowKey: KeyObject; refusedRows: RefusedRows },
) {
  async function read(where: string, params: readonly unknown[]): Promise<ApiKey[]> {
    const rows = await database.query<Read & Row>(`${SELECT} WHERE ${where}`, params, { keepPlan: true })
    return rows.flatMap(({ newest_entry_id, ...key }) => {
      const why = !hasValidSeal(rowKey, 'api_keys', key)
        ? 'mac'
        : key.entry_id !== newest_entry_id
          ? 'entry'
          : undefined
      if (why === undefined) return [key]
      refusedRows.report({ table: 'api_keys', subject: key.id, why })
      return []
    })
  }

  return {
    /** The API key with this hash. */
    byHash: batchedRead({
      keyText: (hash: string) => hash,
      load: async (hashes) =>
        new Map((await read('key.key_hash = ANY($1::text[])', [hashes])).map((key) => [key.key_hash, key])),
    }),

    /** Lists the keys of an organization, oldest first. */
    list: (organizationId: string) => read('key.org_id = $1 ORDER BY key.id', [organizationId]),

    /** Finds the key with this id, of any organization. */
    async byId(id: string): Promise<ApiKey | undefined> {
      return (await read('key.id = $1', [id]))[0]
    },

    /** Finds a key of an organization. */
    async ofOrganization(organizationId: string, id: string): Promise<ApiKey | undefined> {
      return (await read('key.org_id = $1 AND key.id = $2', [organizationId, id]))[0]
    },

    /** Records when keys were last used. */
    async touch(uses: readonly { organizationId: string; keyId: string; at: string }[]): Promise<void> {
      await database.query(
        `UPDATE api_keys SET last_used_at = used.at
         FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS used (org_id, id, at)
         WHERE api_keys.org_id = used.org_id AND api_keys.id = used.id`,
        [uses.map((use) => use.organizationId), uses.map((use) => use.keyId), uses.map((use) => use.at)],
      )
    },
  }
}
