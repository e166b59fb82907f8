import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import type { RowOf } from '../schema/tables.ts'

/** How long an answer is kept for retries. */
export const ANSWERS_KEPT_FOR = '24 hours'

/** The answer that was sent under an idempotency key. */
export type KeptAnswer = Pick<RowOf<'idempotency_keys'>, 'fingerprint' | 'status' | 'body' | 'created_at'>

/** Reads and removes answers kept under idempotency keys. */
export function idempotencyQueries(database: Database) {
  return {
    /** The answer kept under an idempotency key of one route, if there is one. */
    keptAnswer: batchedRead<{ organizationId: string; route: string; key: string }, KeptAnswer>({
      keyText: ({ organizationId, route, key }) => `${organizationId} ${route} ${key}`,
      async load(keys) {
        const rows = await database.query<RowOf<'idempotency_keys'> & Row>(
          `SELECT kept.org_id, kept.route, kept.key, kept.fingerprint, kept.status, kept.body, kept.created_at
           FROM idempotency_keys AS kept
           JOIN unnest($1::text[], $2::text[], $3::text[]) AS wanted (org_id, route, key)
             ON kept.org_id = wanted.org_id AND kept.route = wanted.route AND kept.key = wanted.key`,
          [keys.map((key) => key.organizationId), keys.map((key) => key.route), keys.map((key) => key.key)],
          { keepPlan: true },
        )
        return new Map(rows.map((row) => [`${row.org_id} ${row.route} ${row.key}`, row]))
      },
    }),

    /** Adds the answer to a key that was written without one, because the answer is known only after the commit. */
    async keepAnswer(answer: Pick<RowOf<'idempotency_keys'>, 'org_id' | 'route' | 'key' | 'status' | 'body'>) {
      const { org_id, route, key, status, body } = answer
      await database.query(
        'UPDATE idempotency_keys SET status = $4, body = $5 WHERE org_id = $1 AND route = $2 AND key = $3',
        [org_id, route, key, status, body],
      )
    },

    /** Deletes one batch of expired answers and returns its size. */
    async purge(now: string): Promise<number> {
      const rows = await database.query(
        `DELETE FROM idempotency_keys WHERE (org_id, route, key) IN (
           SELECT org_id, route, key FROM idempotency_keys WHERE created_at < $1::timestamptz - interval '${ANSWERS_KEPT_FOR}' ORDER BY created_at LIMIT 5000)
         RETURNING 1`,
        [now],
      )
      return rows.length
    },
  }
}
