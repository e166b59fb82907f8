/** The tables that batches write, with the type of each column: one definition for the SQL and for the rows' types. */
export const tables = {
  api_keys: {
    org_id: 'text',
    id: 'text',
    name: 'text',
    key_hash: 'text',
    last_four: 'text',
    scopes: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz?',
    revoked_at: 'timestamptz?',
    last_used_at: 'timestamptz?',
  },
  idempotency_keys: {
    org_id: 'text',
    route: 'text',
    key: 'text',
    fingerprint: 'text',
    status: 'integer',
    body: 'text',
    created_at: 'timestamptz',
  },
  entities: {
    org_id: 'text',
    id: 'text',
    external_id: 'text',
    type: 'text?',
    display_name: 'text?',
    country: 'text?',
    metadata: 'text',
    state: 'text',
    version: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  identity_links: {
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    identifier_type: 'text?',
    identifier_hash: 'text?',
    identifier_masked: 'text?',
    identifier_issuer: 'text?',
    related_entity_id: 'text?',
    relationship: 'text?',
    ownership_share: 'double precision?',
    verification_status: 'text',
    verification_method: 'text?',
    verification_provider: 'text?',
    verification_reference: 'text?',
    verified_at: 'timestamptz?',
    created_at: 'timestamptz',
  },
  consents: {
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    purpose: 'text',
    status: 'text',
    data_categories: 'text',
    granted_at: 'timestamptz',
    expires_at: 'timestamptz?',
    revoked_at: 'timestamptz?',
    evidence_method: 'text?',
    evidence_reference: 'text?',
    evidence_document_sha256: 'text?',
    created_at: 'timestamptz',
  },
  transactions: {
    org_id: 'text',
    entity_id: 'text',
    external_id: 'text',
    batch_id: 'text',
    occurred_at: 'timestamptz',
    amount: 'numeric',
    currency: 'text',
    direction: 'text',
    balance_after: 'numeric?',
    category: 'text?',
    description: 'text?',
    counterparty_name: 'text?',
    counterparty_entity_id: 'text?',
  },
  feature_snapshots: {
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    source: 'text',
    as_of: 'timestamptz',
    features: 'text',
    sha256: 'text',
    created_at: 'timestamptz',
  },
  events: { org_id: 'text', id: 'text', type: 'text', created_at: 'timestamptz', data: 'text' },
  audit_entries: {
    org_id: 'text',
    id: 'text',
    trail_id: 'text',
    type: 'text',
    occurred_at: 'timestamptz',
    actor_type: 'text',
    actor_id: 'text',
    request_id: 'text?',
    subject_type: 'text',
    subject_id: 'text',
    data: 'text',
    leaf_hash: 'text',
  },
  audit_leaves: { org_id: 'text', leaf_index: 'bigint', entry_id: 'text', leaf_hash: 'text' },
  audit_nodes: { org_id: 'text', level: 'integer', index: 'bigint', hash: 'text' },
  audit_heads: {
    org_id: 'text',
    tree_size: 'bigint',
    root_hash: 'text',
    signed_at: 'timestamptz',
    key_id: 'text',
    signature: 'text',
  },
  policies: {
    org_id: 'text',
    id: 'text',
    version: 'text',
    model_version: 'text',
    checksum: 'text',
    document: 'text',
    source: 'text',
    author_type: 'text',
    author_id: 'text',
    created_at: 'timestamptz',
  },
  policy_steps: {
    org_id: 'text',
    policy_id: 'text',
    number: 'integer',
    step: 'text',
    checksum: 'text',
    evidence: 'text',
    reason: 'text',
    actor_type: 'text',
    actor_id: 'text',
    taken_at: 'timestamptz',
  },
  decisions: {
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    product: 'text',
    verdict: 'text',
    risk_tier: 'text',
    policy_version: 'text',
    policy_checksum: 'text',
    body: 'text',
    created_at: 'timestamptz',
  },
  decision_evidence: {
    org_id: 'text',
    decision_id: 'text',
    facts: 'text',
    trace: 'text',
    graph: 'text',
    audit_entry_id: 'text',
  },
  latest_decisions: {
    org_id: 'text',
    entity_id: 'text',
    decision_id: 'text',
    request: 'text',
    verdict: 'text',
    announced_verdict: 'text',
  },
  reviews: {
    org_id: 'text',
    id: 'text',
    decision_id: 'text',
    entity_id: 'text',
    verdict: 'text',
    overrides: 'boolean',
    reviewer_id: 'text',
    body: 'text',
    created_at: 'timestamptz',
  },
  outcomes: {
    org_id: 'text',
    id: 'text',
    decision_id: 'text',
    entity_id: 'text',
    type: 'text',
    occurred_at: 'timestamptz',
    body: 'text',
    created_at: 'timestamptz',
  },
  graph_links: {
    org_id: 'text',
    entity_id: 'text',
    neighbour_id: 'text',
    type: 'text',
    verified: 'boolean',
    base_ppm: 'integer',
    since: 'integer',
    expires: 'integer',
    to_adverse: 'boolean',
  },
  graph_claims: { org_id: 'text', claim: 'text', version: 'bigint' },
  graph_track_records: { org_id: 'text', entity_id: 'text', tallies: 'text', is_adverse: 'boolean', version: 'bigint' },
  payment_flows: {
    org_id: 'text',
    entity_id: 'text',
    counterparty_id: 'text',
    currency: 'text',
    month: 'text',
    amount: 'numeric',
  },
  consequences: { org_id: 'text', kind: 'text', entity_id: 'text', mark: 'text' },
  webhook_endpoints: {
    org_id: 'text',
    id: 'text',
    url: 'text',
    description: 'text',
    event_types: 'text',
    state: 'text',
    secret: 'text',
    previous_secret: 'text?',
    previous_secret_until: 'timestamptz?',
    created_at: 'timestamptz',
    disabled_at: 'timestamptz?',
    disabled_why: 'text?',
    failing_since: 'timestamptz?',
    version: 'bigint',
  },
  webhook_deliveries: {
    org_id: 'text',
    endpoint_id: 'text',
    event_id: 'text',
    state: 'text',
    attempts: 'integer',
    schedule_step: 'integer',
    due_at: 'timestamptz',
    leased_until: 'timestamptz',
  },
  webhook_attempts: {
    org_id: 'text',
    endpoint_id: 'text',
    event_id: 'text',
    number: 'integer',
    started_at: 'timestamptz',
    duration_ms: 'integer',
    status: 'integer?',
    error: 'text?',
    response: 'text?',
  },
  usage_by_day: { org_id: 'text', day: 'date', node: 'text', counter: 'text', count: 'bigint' },
} as const satisfies Record<string, Record<string, ColumnType>>

type ColumnType = `${keyof ValueTypes}${'' | '?'}`

interface ValueTypes {
  text: string
  integer: number
  bigint: number
  numeric: string
  'double precision': number
  timestamptz: string
  date: string
  boolean: boolean
}

/** The name of a table that batches write. */
export type TableName = keyof typeof tables

/** A row of a table, as it is written and as it is read. */
export type RowOf<T extends TableName> = {
  -readonly [C in keyof (typeof tables)[T]]: (typeof tables)[T][C] extends `${infer V extends keyof ValueTypes}?`
    ? ValueTypes[V] | null
    : (typeof tables)[T][C] extends keyof ValueTypes
      ? ValueTypes[(typeof tables)[T][C]]
      : never
}

/** The column names of a table, in the order of their arrays, for `SELECT` and `INSERT` lists. */
export function columnsOf(table: TableName): string[] {
  return Object.keys(tables[table])
}

/** Collects the parameters of one statement and hands out their placeholders. */
export class Params {
  readonly values: unknown[] = []

  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}

/** `unnest($1::text[], $2::bigint[], …)`: any number of rows of a table as one set of arrays, so that the statement's text stays the same. */
export function unnestRows<T extends TableName>(table: T, rows: readonly RowOf<T>[], params: Params): string {
  const arrays = Object.entries(tables[table]).map(([column, type]) => {
    const values = rows.map((row) => row[column as keyof RowOf<T>])
    return params.add(values, `${type.replace('?', '')}[]`)
  })
  return `unnest(${arrays.join(', ')})`
}

/** `INSERT` of any number of rows of a table. */
export function insertRows<T extends TableName>(table: T, rows: readonly RowOf<T>[], params: Params): string {
  return `INSERT INTO ${table} (${columnsOf(table).join(', ')}) SELECT * FROM ${unnestRows(table, rows, params)}`
}
