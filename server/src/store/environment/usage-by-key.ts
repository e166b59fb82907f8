import type { Database, Row } from '../database/database.ts'
import { ALL_NODES } from './usage.ts'

/** What the requests of one API key did. */
export interface KeyUsage {
  requests: number
  errors: number
  decisions: number
  transactions: number
}

const DAYS_PER_COMPACTION = 500
const COUNTERS = ['requests', 'errors', 'decisions', 'transactions'] as const satisfies (keyof KeyUsage)[]
const SUMS = COUNTERS.map((counter) => `sum(${counter})::bigint AS ${counter}`).join(', ')
const ADD = COUNTERS.map((counter) => `${counter} = usage_by_key.${counter} + excluded.${counter}`).join(', ')
const KEY_AND_COUNTERS = `org_id, day, node, key_id, ${COUNTERS.join(', ')}`

/** Reads and writes of the usage of each API key. */
export function usageByKeyQueries(database: Database) {
  return {
    /** Adds what a node counted since it last did. */
    async addByKey(
      node: string,
      usages: readonly ({ organizationId: string; day: string; keyId: string } & KeyUsage)[],
    ): Promise<void> {
      await database.query(
        `INSERT INTO usage_by_key (${KEY_AND_COUNTERS})
         SELECT org_id, day, $1, key_id, ${COUNTERS.join(', ')}
         FROM unnest($2::text[], $3::date[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
           AS added (org_id, day, key_id, ${COUNTERS.join(', ')})
         ON CONFLICT (org_id, day, node, key_id) DO UPDATE SET ${ADD}`,
        [
          node,
          usages.map((usage) => usage.organizationId),
          usages.map((usage) => usage.day),
          usages.map((usage) => usage.keyId),
          ...COUNTERS.map((counter) => usages.map((usage) => usage[counter])),
        ],
      )
    },

    /** The usage of each API key of an organization in a period, the most used first. */
    async ofKeys(organizationId: string, from: string, to: string): Promise<({ key_id: string } & KeyUsage)[]> {
      return database.query<{ key_id: string } & KeyUsage & Row>(
        `SELECT key_id, ${SUMS} FROM usage_by_key
         WHERE org_id = $1 AND day BETWEEN $2::date AND $3::date GROUP BY key_id ORDER BY requests DESC, key_id`,
        [organizationId, from, to],
      )
    },

    /** The usage of one API key by day. */
    async ofKeyByDay(
      { organizationId, keyId }: { organizationId: string; keyId: string },
      from: string,
      to: string,
    ): Promise<({ day: string } & KeyUsage)[]> {
      return database.query<{ day: string } & KeyUsage & Row>(
        `SELECT day, ${SUMS} FROM usage_by_key
         WHERE org_id = $1 AND day BETWEEN $2::date AND $3::date AND key_id = $4 GROUP BY day ORDER BY day`,
        [organizationId, from, to, keyId],
      )
    },

    /** Sums the rows of all nodes on days before this one, as `compactUsage` does; returns how many rows it wrote. */
    async compactByKey(beforeDay: string): Promise<number> {
      const rows = await database.query(
        `WITH old AS (
           SELECT DISTINCT org_id, day FROM usage_by_key WHERE node <> '${ALL_NODES}' AND day < $1::date LIMIT $2
         ),
         moved AS (
           DELETE FROM usage_by_key AS usage USING old
           WHERE usage.org_id = old.org_id AND usage.day = old.day AND usage.node <> '${ALL_NODES}'
           RETURNING usage.*
         )
         INSERT INTO usage_by_key (${KEY_AND_COUNTERS})
         SELECT org_id, day, '${ALL_NODES}', key_id, ${COUNTERS.map((counter) => `sum(${counter})`).join(', ')}
         FROM moved GROUP BY org_id, day, key_id
         ON CONFLICT (org_id, day, node, key_id) DO UPDATE SET ${ADD}
         RETURNING 1`,
        [beforeDay, DAYS_PER_COMPACTION],
      )
      return rows.length
    },
  }
}
