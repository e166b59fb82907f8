import { type Columns, guarded, plain, type ValueTypes } from './columns.ts'
import { entityStepTables } from './entity-step-tables.ts'
import { policyTables } from './policy-tables.ts'
import { transactionTables } from './transaction-tables.ts'

/**
 * The tables that batches write: the one definition of their columns, for SQL and for the types of rows. A test
 * compares it with the migrated database. `column-classes.ts` has which text columns, of all tables, may hold personal data.
 */
export const tables = {
  api_keys: plain({
    org_id: 'text',
    id: 'text',
    name: 'text',
    key_hash: 'text',
    last_four: 'text',
    scopes: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz?',
    replaces: 'text?',
    retires_at: 'timestamptz?',
    disabled_at: 'timestamptz?',
    revoked_at: 'timestamptz?',
    last_used_at: 'timestamptz?',
    entry_id: 'text',
    mac: 'text',
  }),
  idempotency_keys: guarded({
    org_id: 'text',
    key_hash: 'bytea',
    fingerprint: 'bytea',
    decision_id: 'text?',
    status: 'smallint?',
    body: 'text?',
    created_at: 'timestamptz',
  }),
  entities: guarded({
    org_id: 'text',
    id: 'text',
    external_id: 'text',
    type: 'text? changeable',
    display_name: 'text? changeable',
    country: 'text? changeable',
    metadata: 'text changeable',
    state: 'text changeable',
    version: 'bigint changeable',
    created_at: 'timestamptz',
    updated_at: 'timestamptz changeable',
  }),
  identity_links: plain({
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
    provided_by: 'text?',
    created_at: 'timestamptz',
  }),
  consents: plain({
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
  }),
  ...entityStepTables,
  ...transactionTables,
  feature_snapshots: plain({
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    source: 'text',
    as_of: 'timestamptz',
    features: 'text',
    sha256: 'text',
    provided_by: 'text?',
    created_at: 'timestamptz',
  }),
  events: plain({ org_id: 'text', id: 'text', type: 'text', created_at: 'timestamptz', data: 'text' }),
  audit_entries: guarded({
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
    hashes: 'bytea?',
    mac: 'bytea',
  }),
  audit_nodes: plain({ org_id: 'text', level: 'integer', index: 'bigint', hash: 'bytea' }),
  audit_heads: plain({
    org_id: 'text',
    tree_size: 'bigint',
    root_hash: 'text',
    signed_at: 'timestamptz',
    key_id: 'text',
    signature: 'text',
  }),
  audit_announced: guarded({ org_id: 'text', tree_size: 'bigint', announced_at: 'timestamptz' }),
  ...policyTables,
  decisions: guarded({
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    entity_version: 'bigint',
    product: 'text',
    verdict: 'text',
    risk_tier: 'text',
    policy_version: 'text',
    requested_amount: 'double precision?',
    currency: 'text?',
    recommended_limit: 'double precision?',
    score: 'integer?',
    score_cutoff: 'integer?',
    term_months: 'integer?',
    reason_codes: 'text',
    reference: 'text?',
    created_at: 'timestamptz',
  }),
  turned_verdicts: guarded({ org_id: 'text', decision_id: 'text', verdict: 'text', previous: 'text' }),
  reviews: plain({
    org_id: 'text',
    id: 'text',
    decision_id: 'text',
    entity_id: 'text',
    verdict: 'text',
    overrides: 'boolean',
    reviewer_id: 'text',
    body: 'text',
    created_at: 'timestamptz',
  }),
  cases: guarded({
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    opened_at: 'timestamptz',
    waiting: 'integer',
    assignee_id: 'text?',
    assigned_at: 'timestamptz?',
    review_id: 'text?',
    signature_id: 'text?',
    signer_id: 'text?',
  }),
  case_signatures: plain({
    org_id: 'text',
    id: 'text',
    case_id: 'text',
    entity_id: 'text',
    body: 'text',
    signer_id: 'text',
    created_at: 'timestamptz',
  }),
  case_notes: plain({
    org_id: 'text',
    id: 'text',
    case_id: 'text',
    entity_id: 'text',
    text: 'text',
    author_id: 'text',
    created_at: 'timestamptz',
  }),
  outcomes: plain({
    org_id: 'text',
    id: 'text',
    decision_id: 'text',
    entity_id: 'text',
    type: 'text',
    occurred_at: 'timestamptz',
    body: 'text',
    created_at: 'timestamptz',
  }),
  outcome_retractions: plain({
    org_id: 'text',
    id: 'text',
    outcome_id: 'text',
    entity_id: 'text',
    step: 'text',
    reason: 'text',
    actor_type: 'text',
    actor_id: 'text',
    taken_at: 'timestamptz',
  }),
  playground_scenarios: plain({
    org_id: 'text',
    id: 'text',
    name: 'text',
    request: 'text',
    saved_by: 'text',
    saved_at: 'timestamptz',
  }),
  graph_links: guarded({
    org_id: 'text',
    entity_id: 'text',
    neighbour_id: 'text',
    type: 'text',
    verified: 'boolean',
    base_ppm: 'integer',
    since: 'integer',
    expires: 'integer',
    to_adverse: 'boolean',
    claim: 'text',
  }),
  graph_claims: guarded({
    org_id: 'text',
    claim: 'text',
    version: 'bigint',
    holders: 'integer',
    verified_holders: 'integer',
  }),
  graph_track_records: guarded({
    org_id: 'text',
    entity_id: 'text',
    tallies: 'text',
    is_adverse: 'boolean',
    version: 'bigint',
  }),
  open_offers: guarded({ org_id: 'text', entity_id: 'text', version: 'bigint', offers: 'text' }),
  payment_flows: guarded({
    org_id: 'text',
    entity_id: 'text',
    counterparty_id: 'text',
    currency: 'text',
    month: 'text',
    amount: 'numeric',
  }),
  consequences: guarded({ org_id: 'text', kind: 'text', entity_id: 'text', mark: 'text' }),
  webhook_endpoints: plain({
    org_id: 'text',
    id: 'text',
    url: 'text',
    shown_url: 'text',
    description: 'text',
    event_types: 'text',
    state: 'text',
    secret: 'text',
    secret_since: 'timestamptz',
    previous_secret: 'text?',
    previous_secret_until: 'timestamptz?',
    created_at: 'timestamptz',
    disabled_at: 'timestamptz?',
    disabled_why: 'text?',
    removed_at: 'timestamptz?',
    failing_since: 'timestamptz?',
    version: 'bigint',
  }),
  webhook_deliveries: guarded({
    org_id: 'text',
    endpoint_id: 'text',
    event_id: 'text',
    event_type: 'text',
    state: 'text',
    attempts: 'integer',
    schedule_step: 'integer',
    due_at: 'timestamptz',
    by_hand: 'boolean',
    leased_until: 'timestamptz',
  }),
  webhook_attempts: plain({
    org_id: 'text',
    endpoint_id: 'text',
    event_id: 'text',
    number: 'integer',
    started_at: 'timestamptz',
    duration_ms: 'integer',
    status: 'integer?',
    error: 'text?',
    response: 'text?',
    signature: 'text?',
    user_agent: 'text?',
  }),
  usage_by_day: guarded({ org_id: 'text', day: 'date', node: 'text', counter: 'text', count: 'bigint' }),
}

/** The name of a table that batches write. */
export type TableName = keyof typeof tables

type ColumnsOf<T extends TableName> = (typeof tables)[T]['columns']

type ValueOf<C> = C extends `${infer Base} changeable`
  ? ValueOf<Base>
  : C extends `${infer V extends keyof ValueTypes}?`
    ? ValueTypes[V] | null
    : C extends keyof ValueTypes
      ? ValueTypes[C]
      : never

/** A row of a table as it is stored and read. */
export type RowOf<T extends TableName> = { -readonly [C in keyof ColumnsOf<T>]: ValueOf<ColumnsOf<T>[C]> }

/** A row of a change. The write path adds `org_id`, which is the same for all rows of a change. */
export type NewRow<T extends TableName> = Omit<RowOf<T>, 'org_id'>

/** Adds the organization to rows of an environment: the only function that translates `organizationId` into `org_id`. */
export function ofOrganization<R extends object>(
  organizationId: string,
  rows: readonly R[],
): (R & { org_id: string })[] {
  return rows.map((row) => ({ ...row, org_id: organizationId }))
}

/** The tables that a change may insert rows into without a precondition. */
export type PlainTable = { [T in TableName]: (typeof tables)[T]['isPlain'] extends true ? T : never }[TableName]

/** The columns of a table that a later version of a row may change. */
export type ChangeableColumn<T extends TableName> = {
  [C in keyof ColumnsOf<T>]: ColumnsOf<T>[C] extends `${string} changeable` ? C : never
}[keyof ColumnsOf<T>]

/** The column names of a table, in the order of `unnestRows`, for `SELECT` and `INSERT` lists. */
export function columnsOf<T extends TableName>(table: T): (keyof ColumnsOf<T> & string)[] {
  return Object.keys(tables[table].columns) as (keyof ColumnsOf<T> & string)[]
}

/** The names of the columns that are marked `changeable`. */
export function changeableColumnsOf<T extends TableName>(table: T): (ChangeableColumn<T> & string)[] {
  const isChangeable = (column: string) => definitionOf(table, column).endsWith(' changeable')
  return columnsOf(table).filter(isChangeable) as (ChangeableColumn<T> & string)[]
}

/** The SQL type of a column, and whether it is nullable. */
export function columnType(table: TableName, column: string): { sqlType: string; isNullable: boolean } {
  const definition = definitionOf(table, column).replace(' changeable', '')
  return { sqlType: definition.replace('?', ''), isNullable: definition.endsWith('?') }
}

function definitionOf(table: TableName, column: string): string {
  return (tables[table].columns as Columns)[column]!
}

/** Collects the parameters of one statement and returns their placeholders. */
export class Params {
  readonly values: unknown[] = []

  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}

/** `unnest($1::text[], $2::bigint[], …)`: one array per column, so that the SQL text is the same for any number of rows. */
export function unnestRows<T extends TableName>(table: T, rows: readonly RowOf<T>[], params: Params): string {
  const arrays = columnsOf(table).map((column) => {
    const values = rows.map((row) => row[column as keyof RowOf<T>])
    return params.add(values, `${columnType(table, column).sqlType}[]`)
  })
  return `unnest(${arrays.join(', ')})`
}

/** `unnest(…) AS next (id, was, …)`: rows as a table of the statement, with these columns and their types. */
export function unnestAs<R extends object>(
  alias: string,
  rows: readonly R[],
  types: { readonly [Column in keyof R]?: string },
  params: Params,
): string {
  const columns = Object.entries(types) as [keyof R & string, string][]
  const arrays = columns.map(([column, type]) =>
    params.add(
      rows.map((row) => row[column]),
      `${type}[]`,
    ),
  )
  return `unnest(${arrays.join(', ')}) AS ${alias} (${columns.map(([column]) => column).join(', ')})`
}

/** `INSERT` of any number of rows of a table. */
export function insertRows<T extends TableName>(table: T, rows: readonly RowOf<T>[], params: Params): string {
  return `INSERT INTO ${table} (${columnsOf(table).join(', ')}) SELECT * FROM ${unnestRows(table, rows, params)}`
}
