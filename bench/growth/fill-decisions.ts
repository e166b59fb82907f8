import type { Sql } from '../load/sandbox-sql.ts'
import { sealFilled } from './seal-filled.ts'

/** One generated decision in ten is about the measured entity; the others are spread over this many ids. */
const OTHERS = 1_000

const DECISION_ID = "'dec_0' || lpad(n::text, 25, '0')"
const OWNER = "CASE WHEN n % 10 = 0 THEN $1 ELSE 'ent_0' || lpad((n % 1000)::text, 25, '0') END"
/** One decision per second, the last one now. */
const MADE_AT = "model.created_at - (($2::bigint - n) * interval '1 second')"
const EACH = 'generate_series(1, $2::bigint) AS n'

/**
 * Inserts decisions as the service would have written them: each with its evidence, its audit entry and its event, and
 * those of the last day with the replies kept for retries. All are copies of the entity's one real decision, under new
 * ids that sort before every real one.
 */
export async function fillDecisions(
  sql: Sql,
  { entityId, count, dataDir }: { entityId: string; count: number; dataDir: string },
): Promise<void> {
  await sql(OTHER_ENTITIES, [entityId])
  await Promise.all([
    sql(AUDIT_ENTRIES, [entityId, count]),
    sql(EVIDENCE, [entityId, count]),
    sql(DECISIONS, [entityId, count]).then(() => sql(EVENTS, [entityId, count])),
    sql(KEPT_REPLIES, [entityId, count]),
  ])
  await sql(LATEST_DECISIONS, [entityId, count])
  await sealFilled(sql, { dataDir, like: 'aud\\_0000%' })
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
  INSERT INTO decisions (org_id, id, entity_id, product, verdict, risk_tier, policy_version, policy_checksum, body, created_at)
  SELECT org_id, ${DECISION_ID}, ${OWNER}, product, verdict, risk_tier, policy_version, policy_checksum,
    replace(body, model.id, ${DECISION_ID}), ${MADE_AT}
  FROM (${MODEL}) AS model, ${EACH}`

const EVIDENCE = `
  INSERT INTO decision_evidence (org_id, decision_id, facts, trace, graph, audit_entry_id)
  SELECT model.org_id, ${DECISION_ID}, facts, trace, graph, 'aud_0' || lpad(n::text, 25, '0')
  FROM (${MODEL}) AS model JOIN decision_evidence AS evidence ON evidence.org_id = model.org_id AND evidence.decision_id = model.id, ${EACH}`

const AUDIT_ENTRIES = `
  INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, leaf_hash, mac)
  SELECT model.org_id, 'aud_0' || lpad(n::text, 25, '0'), ${OWNER}, CASE WHEN n % 10 = 0 THEN newest.seq + n / 10 ELSE n / ${OTHERS} + 1 END,
    entry.type, ${MADE_AT}, actor_type, actor_id, request_id, subject_type, ${DECISION_ID},
    replace(replace(data, model.id, ${DECISION_ID}), $1, ${OWNER}), encode(sha256(convert_to('leaf ' || n, 'UTF8')), 'hex'), repeat('0', 64)
  FROM (${MODEL}) AS model
  JOIN audit_entries AS entry ON entry.org_id = model.org_id AND entry.trail_id = $1 AND entry.subject_id = model.id
  JOIN (SELECT max(seq) AS seq FROM audit_entries WHERE trail_id = $1) AS newest ON true, ${EACH}`

const EVENTS = `
  INSERT INTO events (org_id, id, type, created_at, data)
  SELECT model.org_id, 'evt_0' || lpad(n::text, 25, '0'), 'decision.created', ${MADE_AT},
    replace(replace(entry.data, model.id, ${DECISION_ID}), $1, ${OWNER})
  FROM (${MODEL}) AS model
  JOIN audit_entries AS entry ON entry.org_id = model.org_id AND entry.trail_id = $1 AND entry.subject_id = model.id, ${EACH}`

/** Keys are random, as callers make them. Only the replies of the last day are kept. */
const KEPT_REPLIES = `
  INSERT INTO idempotency_keys (org_id, route, key, fingerprint, status, body, created_at)
  SELECT model.org_id, route, md5(n::text)::uuid::text, encode(sha256(convert_to('body ' || n, 'UTF8')), 'hex'), status,
    replace(kept.body, model.id, ${DECISION_ID}), ${MADE_AT}
  FROM (${MODEL}) AS model
  JOIN idempotency_keys AS kept ON kept.org_id = model.org_id AND kept.route = 'POST /v1/underwrite' AND position(model.id IN kept.body) > 0,
    generate_series(greatest(1, $2::bigint - 85000), $2::bigint) AS n`

const LATEST_DECISIONS = `
  INSERT INTO latest_decisions (org_id, entity_id, decision_id, entity_version, request, verdict, announced_verdict)
  SELECT org_id, 'ent_0' || lpad(other::text, 25, '0'), 'dec_0' || lpad(($2::bigint - ($2::bigint - other) % ${OTHERS})::text, 25, '0'),
    entity_version, request, verdict, announced_verdict
  FROM latest_decisions, generate_series(1, least($2::bigint, ${OTHERS - 1})) AS other WHERE entity_id = $1 AND other % 10 <> 0`
