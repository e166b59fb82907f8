import { hash } from 'node:crypto'
import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { readDocuments } from '../documents/documents.ts'
import type { RowOf } from '../schema/tables.ts'

/** How long an answer is kept for retries. That a key made a decision is kept as long as the decision. */
export const ANSWERS_KEPT_HOURS = 24

/**
 * Of 128 bits, the first two equal hashes are expected after about 2^64 keys of one organization. A client that looks for
 * them finds them among its own keys only, since rows are found by organization and hash.
 */
const KEY_HASH_BYTES = 16

/** The hash under which a key of one route is stored. Neither has a line feed, so no two pairs make the same text. */
export function keyHashOf(route: string, key: string): Uint8Array {
  return hash('sha256', `${route}\n${key}`, 'buffer').subarray(0, KEY_HASH_BYTES)
}

/** The answer that was sent under an idempotency key. */
export interface KeptAnswer {
  fingerprint: Uint8Array
  status: number
  body: string
  created_at: string
}

/** The decision that was answered under an idempotency key. */
export interface KeptDecision {
  fingerprint: Uint8Array
  decisionId: string
  /** The stored decision; null if it was deleted, or altered so that it cannot be unpacked. */
  document: string | null
  created_at: string
}

interface UsedKey {
  organizationId: string
  keyHash: Uint8Array
}

type StoredKey = RowOf<'idempotency_keys'> & { flush: number | null }

/** Reads and removes answers kept under idempotency keys. */
export function idempotencyQueries(database: Database) {
  const readKept = batchedRead<UsedKey, KeptAnswer | KeptDecision>({
    keyText: ({ organizationId, keyHash }) => `${organizationId} ${hexOf(keyHash)}`,
    async load(keys) {
      const rows = await database.query<StoredKey & Row>(
        `SELECT kept.org_id, kept.key_hash, kept.fingerprint, kept.decision_id, kept.status, kept.body, kept.created_at,
           (SELECT flush FROM decisions AS decision WHERE decision.org_id = kept.org_id AND decision.id = kept.decision_id) AS flush
         FROM idempotency_keys AS kept
         JOIN unnest($1::text[], $2::bytea[]) AS wanted (org_id, key_hash)
           ON kept.org_id = wanted.org_id AND kept.key_hash = wanted.key_hash`,
        [keys.map(({ organizationId }) => organizationId), keys.map(({ keyHash }) => keyHash)],
        { keepPlan: true },
      )
      const kept = await withKeptDecisions(database, rows)
      return new Map(rows.map(({ org_id, key_hash }, index) => [`${org_id} ${hexOf(key_hash)}`, kept[index]!]))
    },
  })
  return {
    /**
     * What is kept under an idempotency key, if it was used. The write that kept an answer may be one that a failover takes away,
     * with what the retry is told. New keys do not wait for the standbys with used ones.
     */
    keptAnswer: (key: UsedKey) => database.durably(() => readKept(key)),

    /** Adds the answer to a key that was written without one, because the answer is known only after the commit. */
    async keepAnswer(
      answer: Pick<RowOf<'idempotency_keys'>, 'org_id' | 'key_hash'> & Pick<KeptAnswer, 'status' | 'body'>,
    ) {
      const { org_id, key_hash, status, body } = answer
      await database.query('UPDATE idempotency_keys SET status = $3, body = $4 WHERE org_id = $1 AND key_hash = $2', [
        ...[org_id, key_hash, status, body],
      ])
    },

    /** Deletes one batch of expired answers and returns its size. Keys that made a decision do not expire. */
    async purge(now: string): Promise<number> {
      const rows = await database.query(
        `DELETE FROM idempotency_keys WHERE (org_id, key_hash) IN (
           SELECT org_id, key_hash FROM idempotency_keys
           WHERE decision_id IS NULL AND created_at < $1::timestamptz - interval '${ANSWERS_KEPT_HOURS} hours'
           ORDER BY created_at LIMIT 5000)
         RETURNING 1`,
        [now],
      )
      return rows.length
    },
  }
}

/** What is kept under each of these keys; decisions are read from their documents, all together. */
async function withKeptDecisions(
  database: Database,
  rows: readonly StoredKey[],
): Promise<(KeptAnswer | KeptDecision)[]> {
  const decisions = rows.flatMap(({ org_id, decision_id: id, flush }) =>
    id !== null && flush !== null ? [{ org_id, id, flush }] : [],
  )
  const documents = await readDocuments(database, decisions)
  const bodies = new Map(decisions.map(({ org_id, id }, index) => [`${org_id} ${id}`, documents[index]!.body]))
  return rows.map(({ org_id, decision_id, fingerprint, status, body, created_at }) =>
    decision_id === null
      ? { fingerprint, status: status!, body: body!, created_at } // the table has a CHECK that neither is null
      : { fingerprint, decisionId: decision_id, document: bodies.get(`${org_id} ${decision_id}`) ?? null, created_at },
  )
}

/** Bytes as a text, for comparisons and for maps. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
