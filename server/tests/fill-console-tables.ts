/** Fills every table that grows with rows of one organization, for tests of what the pages of the console read. */
import { emptyState } from '../src/core/facts/entity-state.ts'
import type { Database } from '../src/store/database/database.ts'
import type { Storage } from '../src/store/storage.ts'
import { insertSegments } from './copy-decisions.ts'
import { fillTable } from './fill-table.ts'

/** Rows of most tables: enough that reading a whole one is seen. */
export const ROWS = 10_000
/** Rows of the tables that a search without an index looks at: more than its bound. */
export const ROWS_SEARCHED = 25_000
const SEARCHED = ['entities', 'decisions', 'cases', 'outcomes', 'audit_entries']
/** Days of the counters, of which the longest range of a page has a twentieth. */
const DAYS = 2_000

/** Ids sort by time, as those of the service do; `n` is the number of the row. */
const idOf = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`
/** The id of a row by its number. */
export const idAt = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, '0')}`
const timeOf = `timestamptz '2026-11-15 09:00:00Z' - (${ROWS_SEARCHED} - n) * interval '1 minute'`

/** The parts of a trace and of a review that the review queue reads. */
const TRACE = {
  scorecard: [{}],
  score: { total: 600, cutoff: 550, bad_ppm: 1 },
  confidence: { ppm: 1 },
  completeness: { ppm: 1 },
  settled_by: 'review_rule',
  limit: null,
}
const REVIEW = {
  id: 'rev_1',
  reviewer: { id: 'crm' },
  created_at: '2026-11-15T09:00:00.000Z',
  verdict: 'decline',
  reason: '',
}

/** Columns of every table of an environment that has them. */
const SHARED = {
  entity_id: idOf('ent'),
  decision_id: idOf('dec'),
  event_id: idOf('evt'),
  case_id: idOf('cas'),
  policy_id: `'${idAt('pol', 7)}'`,
  created_at: timeOf,
  occurred_at: timeOf,
}
const HALF = ROWS_SEARCHED / 2
const RECORDS: Record<string, Record<string, string>> = {
  entities: {
    id: idOf('ent'),
    external_id: "'e' || n",
    type: "'person'",
    display_name: "'Person ' || n",
    metadata: "'{}'",
    state: `'${JSON.stringify(emptyState())}'`,
  },
  // Every policy decided for a while, and one tier and one product occur long ago only.
  decisions: {
    id: idOf('dec'),
    verdict: "'manual_review'",
    risk_tier: "CASE WHEN n < 100 THEN 'E' ELSE 'T' || n % 5 END",
    policy_version: "'policy-' || n / 5000",
    product: "CASE WHEN n < 50 THEN 'rare' ELSE 'product-' || n % 3 END",
    flush: 'n',
  },
  // Half of the cases are closed.
  cases: {
    id: idOf('cas'),
    opened_at: timeOf,
    waiting: `CASE WHEN n <= ${HALF} THEN 0 ELSE 1 END`,
    review_id: `CASE WHEN n <= ${HALF} THEN ${idOf('rev')} END`,
  },
  waiting_reviews: { since: timeOf },
  reviews: { id: idOf('rev'), body: `'${JSON.stringify(REVIEW)}'` },
  graph_links: {
    neighbour_id: "'ent_hub'",
    type: "'owner'",
    base_ppm: '500000',
    since: '20700',
    expires: '99999',
  },
  case_notes: { id: idOf('nte') },
  case_signatures: { id: idOf('sig') },
  identity_links: { id: idOf('idl'), related_entity_id: "'ent_hub'", verification_status: "'verified'" },
  identifier_holders: { identifier_hash: 'n::text' },
  consents: { id: idOf('con'), status: "'granted'", data_categories: "'[]'" },
  outcomes: { id: idOf('out'), type: "CASE WHEN n < 10 THEN 'default' ELSE 'repaid' END" },
  trust_history: { day: "date '2026-11-15'", score: '0.5' },
  events: { id: idOf('evt'), type: "'entity.created'" },
  audit_entries: {
    id: idOf('aud'),
    trail_id: idOf('ent'),
    seq: '1',
    subject_id: idOf('ent'),
    data: "'{}'",
    type: "'entity.created'",
    actor_type: "'api_key'",
    actor_id: "'key_' || n % 3",
    flush: 'n',
    place: '0',
  },
  audit_flushes: {
    flush: 'n',
    entry_ids: `substr(${idOf('aud')}, 5)`,
    leaf_hashes: 'sha256(n::text::bytea)',
    first_leaf: 'n',
  },
  audit_heads: { tree_size: 'n' },
  webhook_deliveries: {
    event_type: "'entity.created'",
    attempts: '1',
    last_answer: "'2xx'",
    state: "CASE n % 20 WHEN 0 THEN 'pending' WHEN 1 THEN 'failed' ELSE 'delivered' END",
  },
  webhook_attempts: { number: '1', status: '200' },
  policies: { id: idOf('pol'), version: "'v' || n", document: "'{}'" },
  policy_backtests: { id: idOf('bkt'), result: "'{}'" },
  policy_comments: { id: idOf('cmt') },
  webhook_attempts_by_hour: { node: "'all'", hour: timeOf.replace('minute', 'hour'), delivered: '1' },
}

const OF_A_DAY = { day: "date '2026-11-15' - (n / 20)::integer", node: "'node_' || n % 2" }
const COUNTERS: Record<string, Record<string, string>> = {
  usage_by_day: { counter: "CASE n % 20 WHEN 0 THEN 'webhook_deliveries' ELSE 'counter_' || n % 20 END" },
  usage_by_key: { key_id: "'key_' || n % 20" },
  decision_latencies: { hour: 'n % 20', counts: "'{1}'" },
}

/** Columns of every table of accounts and operators that has them: the rows belong to a thousand organizations. */
const OTHERS = { org_id: "'org_' || n % 1000", account_id: idOf('acc'), operator_id: idOf('opr') }
const ACCOUNTS: Record<string, Record<string, string>> = {
  accounts: { id: idOf('acc'), email: "n || '@example.com'" },
  sessions: { id: idOf('ses'), token_hash: 'n::text', method: "'password'" },
  operators: { id: idOf('opr'), email: "n || '@example.com'", role: "'viewer'" },
  invitations: { id: idOf('inv'), token_hash: 'n::text' },
  passkeys: { id: idOf('pky'), credential_id: 'n::text' },
  account_codes: {},
  recovery_codes: { code_hash: 'n::text' },
  account_identities: { issuer: "'https://id.example'", subject: 'n::text' },
  operator_codes: {},
  live_gate_approvals: {},
  sign_in_failures: { subject: "'email ' || n" },
  sign_in_challenges: { token_hash: 'n::text' },
  used_challenges: { token_hash: 'n::text' },
  act_keys: { key: 'n::text' },
}

/** Gives one organization nearly all rows, as the only customer of an installation has. */
export async function fillConsoleTables(
  { control, environments: { production } }: Storage,
  { organizationId, endpointId }: { organizationId: string; endpointId: string },
): Promise<void> {
  const own = { org_id: `'${organizationId}'`, endpoint_id: `'${endpointId}'` }
  // The triggers would write cases and waiting reviews row by row, which takes most of a minute.
  await production.query('ALTER TABLE decisions DISABLE TRIGGER awaits_review')
  await production.query('ALTER TABLE reviews DISABLE TRIGGER ends_review_wait')
  for (const [table, columns] of Object.entries(RECORDS))
    await fillTable(production, table, { range: rangeOf(table), columns: { ...own, ...SHARED, ...columns } })
  await fillSegments(production, organizationId)
  for (const [table, columns] of Object.entries(COUNTERS))
    await fillTable(production, table, { range: [1, DAYS * 20], columns: { ...own, ...OF_A_DAY, ...columns } })
  for (const [table, columns] of Object.entries(ACCOUNTS))
    await fillTable(control, table, { range: [1, ROWS], columns: { ...OTHERS, ...columns } })
}

/** Gives each decision a segment of its own, as a service with few requests writes them. */
async function fillSegments(database: Database, organizationId: string): Promise<void> {
  const documents = { body: '{"reason_codes":[]}', facts: '{"features":{}}', trace: JSON.stringify(TRACE), graph: '{}' }
  await insertSegments(
    (sql, params) => database.query(sql, params),
    organizationId,
    Array.from({ length: ROWS_SEARCHED }, (_, index) => ({
      is_packed: false,
      flush: index + 1,
      part: 0,
      first_flush: index + 1,
      documents: [{ decision_id: idAt('dec', index + 1), ...documents }],
    })),
  )
  await database.query('VACUUM ANALYZE document_segments')
}

/** The numbers of the rows of a table: the newest rows of most tables have the same. */
function rangeOf(table: string): [first: number, last: number] {
  if (table === 'policies') return [1, 50]
  if (table === 'reviews') return [1, HALF]
  if (table === 'waiting_reviews') return [HALF + 1, ROWS_SEARCHED]
  return [SEARCHED.includes(table) ? 1 : ROWS_SEARCHED - ROWS + 1, ROWS_SEARCHED]
}
