import { SEGMENT_DECISIONS_MAX, unpackSegment } from '../../server/src/store/documents/segment.ts'
import { insertSegments } from '../../server/tests/copy-decisions.ts'
import type { Sql } from '../load/sandbox-sql.ts'
import { sealFilled } from './seal-filled.ts'

/** One generated decision in ten is about the measured entity; the others are spread over this many ids. */
const OTHERS = 1_000

const DECISION_ID = "'dec_0' || lpad(n::text, 25, '0')"
const OWNER = "CASE WHEN n % 10 = 0 THEN $1 ELSE 'ent_0' || lpad((n % 1000)::text, 25, '0') END"
/** One decision per second, the last one now. */
const MADE_AT = "model.created_at - (($2::bigint - n) * interval '1 second')"
const EACH = 'generate_series(1, $2::bigint) AS n'
/** Full segments, as upkeep leaves them. The numbers of their statements are negative, so that none is that of a real one. */
const FLUSH = `(n - 1) / ${SEGMENT_DECISIONS_MAX} - $2::bigint`

/**
 * Inserts decisions as the service would have written them: each with its documents, its audit entry and its idempotency
 * key. All are copies of the entity's one real decision, under new ids that sort before every real one.
 */
export async function fillDecisions(
  sql: Sql,
  { entityId, count, dataDir }: { entityId: string; count: number; dataDir: string },
): Promise<void> {
  await sql(OTHER_ENTITIES, [entityId])
  await Promise.all([
    sql(AUDIT_ENTRIES, [entityId, count]),
    fillSegments(sql, entityId, count),
    sql(DECISIONS, [entityId, count]),
    sql(USED_KEYS, [entityId, count]),
  ])
  await sealFilled(sql, { dataDir, like: 'aud\\_0000%' })
}

/** Inserts the documents of the copies. They are more alike than those of real decisions; no request that is measured reads them. */
async function fillSegments(sql: Sql, entityId: string, count: number): Promise<void> {
  const [model] = await sql<{ org_id: string; id: string; content: Uint8Array }>(MODEL_SEGMENT, [entityId])
  const documents = unpackSegment(model!.content).find(({ decision_id }) => decision_id === model!.id)!
  const copyOf = (n: number) => {
    const decision_id = `dec_0${String(n).padStart(25, '0')}`
    return { ...documents, decision_id, body: documents.body.replaceAll(model!.id, decision_id) }
  }
  function* segments() {
    for (let start = 0; start < count; start += SEGMENT_DECISIONS_MAX) {
      const flush = start / SEGMENT_DECISIONS_MAX - count
      const size = Math.min(SEGMENT_DECISIONS_MAX, count - start)
      const copies = Array.from({ length: size }, (_, index) => copyOf(start + index + 1))
      yield { is_packed: false, flush, part: 0, first_flush: flush, documents: copies }
    }
  }
  await insertSegments(sql, model!.org_id, segments())
}

/** Vacuums a server's store as autovacuum would, and flushes all pages to disk. The embedded database has no autovacuum. */
export async function vacuumStore(sql: Sql): Promise<void> {
  await sql('VACUUM (ANALYZE)')
  await sql('CHECKPOINT')
}

const OTHER_ENTITIES = `
  INSERT INTO entities (org_id, id, external_id, type, display_name, country, metadata, state, version, created_at, updated_at)
  SELECT org_id, 'ent_0' || lpad(n::text, 25, '0'), 'other-' || n, type, display_name, country, metadata, state, version, created_at, updated_at
  FROM entities, generate_series(1, ${OTHERS - 1}) AS n WHERE id = $1 AND n % 10 <> 0`

const MODEL = 'SELECT * FROM decisions WHERE entity_id = $1 ORDER BY id DESC LIMIT 1'

const DECISIONS = `
  INSERT INTO decisions (org_id, id, entity_id, entity_version, product, verdict, risk_tier, policy_version, requested_amount,
    currency, recommended_limit, score, score_cutoff, reason_codes, created_at, flush)
  SELECT org_id, ${DECISION_ID}, ${OWNER}, entity_version, product, verdict, risk_tier, policy_version, requested_amount,
    currency, recommended_limit, score, score_cutoff, reason_codes, ${MADE_AT}, ${FLUSH}
  FROM (${MODEL}) AS model, ${EACH}`

const MODEL_SEGMENT = `
  SELECT model.org_id, model.id, segment.content
  FROM (${MODEL}) AS model JOIN document_segments AS segment ON segment.org_id = model.org_id AND model.id = ANY(segment.decision_ids)`

/** The numbers of their statements are negative, so that none is that of a real one. */
const ENTRIES_PER_STATEMENT = 20

const AUDIT_ENTRIES = `
  INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, hashes, mac, flush, place)
  SELECT model.org_id, 'aud_0' || lpad(n::text, 25, '0'), ${OWNER}, CASE WHEN n % 10 = 0 THEN newest.seq + n / 10 ELSE n / ${OTHERS} + 1 END,
    entry.type, ${MADE_AT}, actor_type, actor_id, request_id, subject_type, ${DECISION_ID},
    data, hashes, decode(repeat('00', 16), 'hex'),
    (n - 1) / ${ENTRIES_PER_STATEMENT} - $2::bigint, (n - 1) % ${ENTRIES_PER_STATEMENT}
  FROM (${MODEL}) AS model
  JOIN audit_entries AS entry ON entry.org_id = model.org_id AND entry.trail_id = $1 AND entry.subject_id = model.id
  JOIN (SELECT max(seq) AS seq FROM audit_entries WHERE trail_id = $1) AS newest ON true, ${EACH}`

/** The key of every decision is kept; the hashes are spread evenly, as those of callers' keys are. */
const USED_KEYS = `
  INSERT INTO idempotency_keys (org_id, key_hash, fingerprint, decision_id, created_at)
  SELECT org_id, decode(md5(n::text), 'hex'), decode(md5('body ' || n), 'hex'), ${DECISION_ID}, ${MADE_AT}
  FROM (${MODEL}) AS model, ${EACH}`
