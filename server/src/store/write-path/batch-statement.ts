import { upsertIdentifierHolders } from '../environment/graph-claims.ts'
import {
  changeableColumnsOf,
  columnsOf,
  insertRows,
  ofOrganization,
  Params,
  type PlainTable,
  type RowOf,
  type TableName,
  unnestRows,
} from '../schema/tables.ts'
import { insertAuditEntries, queueForSealing } from './audit-insert.ts'
import type { AuthenticatedChange, CaseChange, EndedBacktest, KeyChange, Lost } from './change.ts'
import { changeScenarios, removeScenarios } from './scenario-statements.ts'
import { fanOutEvents, queueDeliveries, updateEndpoints } from './webhook-statements.ts'

/** One step (CTE) of the statement: the rows that it takes from a change, and the SQL that writes them. */
interface Step<T extends OfOrganization> {
  rowsOf(change: AuthenticatedChange): readonly Omit<T, 'org_id'>[]
  /** `previous` names the step before, whose rows this one may read. */
  sql(rows: readonly T[], params: Params, previous: string): string
  /** Unless every row of the step is written, the statement fails with the name of this precondition. */
  precondition?: Lost
  /** The step inserts deliveries; the statement returns their number. */
  queuesDeliveries?: true
}

interface OfOrganization {
  org_id: string
}

/** Type-checks a step's SQL against its rows, then erases the row type so that all steps fit one list. */
function defineStep<T extends OfOrganization>(step: Step<T>): Step<OfOrganization> {
  return step as unknown as Step<OfOrganization>
}

/** The steps in the order of the statement; inserts into plain tables follow them. */
const STEPS: readonly Step<OfOrganization>[] = [
  defineStep<RowOf<'idempotency_keys'>>({
    rowsOf: ({ idempotencyKey }) => (idempotencyKey ? [idempotencyKey] : []),
    sql: (rows, params) =>
      `${insertRows(
        'idempotency_keys',
        inOrder(rows, (row) => `${row.org_id} ${row.route} ${row.key}`),
        params,
      )} ON CONFLICT DO NOTHING RETURNING 1`,
    precondition: 'idempotency_key',
  }),
  defineStep<RowOf<'entities'>>({
    rowsOf: ({ newEntities = [] }) => newEntities,
    sql: (rows, params) =>
      `${insertRows(
        'entities',
        inOrder(rows, (row) => `${row.org_id} ${row.external_id}`),
        params,
      )} ON CONFLICT DO NOTHING RETURNING 1`,
    precondition: 'new_entity',
  }),
  defineStep({
    rowsOf: ({ changedEntities = [] }) => changedEntities,
    sql: updateEntities,
    precondition: 'entity_version',
  }),
  defineStep({ rowsOf: ({ changedEntities = [] }) => changedEntities, sql: queueReevaluations }),
  defineStep({
    rowsOf: ({ changedTrackRecords = [] }) => changedTrackRecords,
    sql: upsertTrackRecords,
    precondition: 'entity_version',
  }),
  defineStep({ rowsOf: ({ claims = [] }) => claims, sql: upsertClaims, precondition: 'claim_version' }),
  defineStep({ rowsOf: ({ changedKeys = [] }) => changedKeys, sql: changeKeys, precondition: 'api_key' }),
  defineStep({ rowsOf: ({ latestDecisions = [] }) => latestDecisions, sql: upsertLatestDecisions }),
  defineStep({
    rowsOf: ({ turnedVerdicts = [] }) => turnedVerdicts,
    sql: turnVerdicts,
    precondition: 'turned_verdict',
  }),
  defineStep({ rowsOf: ({ changedCases = [] }) => changedCases, sql: changeCases, precondition: 'case' }),
  defineStep({
    rowsOf: ({ changedScenarios = [] }) => changedScenarios,
    sql: changeScenarios,
    precondition: 'scenario',
  }),
  defineStep({
    rowsOf: ({ removedScenarios = [] }) => removedScenarios,
    sql: removeScenarios,
    precondition: 'scenario',
  }),
  defineStep({
    rowsOf: ({ endedBacktests = [] }) => endedBacktests,
    sql: endBacktests,
    precondition: 'backtest',
  }),
  defineStep({ rowsOf: ({ links = [] }) => links, sql: upsertLinks }),
  defineStep({ rowsOf: ({ removedLinks = [] }) => removedLinks, sql: removeLinks }),
  defineStep({
    rowsOf: ({ rows }) => rows?.identity_links?.filter((link) => link.identifier_hash !== null) ?? [],
    sql: upsertIdentifierHolders,
  }),
  defineStep({ rowsOf: ({ paymentFlows = [] }) => paymentFlows, sql: upsertPaymentFlows }),
  defineStep({ rowsOf: ({ consequences = [] }) => consequences, sql: upsertConsequences }),
  defineStep({ rowsOf: ({ auditEntries = [] }) => auditEntries, sql: insertAuditEntries }),
  defineStep({ rowsOf: ({ auditEntries = [] }) => auditEntries, sql: (_, __, inserted) => queueForSealing(inserted) }),
  defineStep({
    rowsOf: ({ changedEndpoints = [] }) => changedEndpoints,
    sql: updateEndpoints,
    precondition: 'endpoint_version',
  }),
  defineStep({ rowsOf: ({ rows }) => rows?.events ?? [], sql: fanOutEvents, queuesDeliveries: true }),
  defineStep({
    rowsOf: ({ queuedDeliveries = [] }) => queuedDeliveries,
    sql: queueDeliveries,
    queuesDeliveries: true,
  }),
  defineStep({ rowsOf: ({ usage = [] }) => usage, sql: addUsage }),
]

/**
 * The one statement that writes a batch of changes, or fails and writes nothing if one of their preconditions does not
 * hold. It returns one row with the number of `deliveries` that it queued.
 */
export function batchStatement(changes: readonly AuthenticatedChange[]): {
  steps: number
  sql: string
  params: unknown[]
} {
  const params = new Params()
  const steps: string[] = []
  const requirements: string[] = []
  const queues: string[] = []
  for (const { rowsOf, sql, precondition, queuesDeliveries } of STEPS) {
    const rows = changes.flatMap((change) => ofOrganization(change.organizationId, rowsOf(change)))
    if (rows.length === 0) continue
    const name = `s${steps.length}`
    steps.push(`${name} AS (${sql(rows, params, `s${steps.length - 1}`)})`)
    if (precondition) {
      const expected = params.add(rows.length, 'bigint')
      requirements.push(`require_rows((SELECT count(*) FROM ${name}), ${expected}, '${precondition}')`)
    }
    if (queuesDeliveries) queues.push(`(SELECT count(*) FROM ${name})`)
  }
  for (const [table, rows] of gatherRows(changes))
    steps.push(`s${steps.length} AS (${insertRows(table, rows as never, params)})`)
  return {
    steps: steps.length,
    sql: `WITH ${steps.join(',\n')}\nSELECT ${[...requirements, `${queues.join(' + ') || '0'} AS deliveries`].join(', ')}`,
    params: params.values,
  }
}

/** Sorts rows by key: statements that lock rows in the same order cannot deadlock. */
function inOrder<T>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

/** The rows of plain tables, by table. */
function gatherRows(changes: readonly AuthenticatedChange[]): Map<PlainTable, OfOrganization[]> {
  const gathered = new Map<PlainTable, OfOrganization[]>()
  for (const change of changes) {
    for (const [table, tableRows] of Object.entries(change.rows ?? {}) as [PlainTable, object[]][]) {
      if (tableRows.length === 0) continue
      gathered.set(table, [...(gathered.get(table) ?? []), ...ofOrganization(change.organizationId, tableRows)])
    }
  }
  // Sorted, so that the same set of tables gives the same SQL text, which is prepared once.
  return new Map([...gathered].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `INSERT … ON CONFLICT` of the last row of each key: PostgreSQL refuses to update a row twice in one statement. */
function upsertRows<T extends TableName>(
  table: T,
  rows: readonly RowOf<T>[],
  params: Params,
  conflict: { key: readonly (keyof RowOf<T> & string)[]; set: string },
): string {
  const lastOfEachKey = new Map(rows.map((row) => [conflict.key.map((column) => row[column]).join(' '), row]))
  const ordered = inOrder([...lastOfEachKey.values()], (row) => conflict.key.map((column) => row[column]).join(' '))
  return `${insertRows(table, ordered, params)} ON CONFLICT (${conflict.key.join(', ')}) DO UPDATE SET ${conflict.set}`
}

function upsertTrackRecords(rows: readonly RowOf<'graph_track_records'>[], params: Params): string {
  const set = 'tallies = excluded.tallies, is_adverse = excluded.is_adverse, version = excluded.version'
  return `${upsertRows('graph_track_records', rows, params, { key: ['org_id', 'entity_id'], set })}
    WHERE graph_track_records.version = excluded.version - 1 RETURNING 1`
}

function upsertClaims(rows: readonly RowOf<'graph_claims'>[], params: Params): string {
  const set = 'version = excluded.version, holders = excluded.holders, verified_holders = excluded.verified_holders'
  return `${upsertRows('graph_claims', rows, params, { key: ['org_id', 'claim'], set })}
    WHERE graph_claims.version = excluded.version - 1 RETURNING 1`
}

function upsertLatestDecisions(rows: readonly RowOf<'latest_decisions'>[], params: Params): string {
  const set = columnsOf('latest_decisions')
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')
  // A decision on older facts that is committed late does not replace a newer one. Times and ids do not tell: they come
  // from the clocks of nodes.
  const byVersion = rows.toSorted((a, b) => a.entity_version - b.entity_version)
  return `${upsertRows('latest_decisions', byVersion, params, { key: ['org_id', 'entity_id'], set })}
    WHERE latest_decisions.entity_version <= excluded.entity_version`
}

function turnVerdicts(rows: readonly (RowOf<'latest_decisions'> & { was: string })[], params: Params): string {
  const column = (name: 'org_id' | 'entity_id' | 'decision_id' | 'announced_verdict' | 'was') =>
    params.add(
      rows.map((row) => row[name]),
      'text[]',
    )
  return `UPDATE latest_decisions SET announced_verdict = turned.verdict
    FROM unnest(${column('org_id')}, ${column('entity_id')}, ${column('decision_id')}, ${column('announced_verdict')}, ${column('was')})
      AS turned (org_id, entity_id, decision_id, verdict, was)
    WHERE latest_decisions.org_id = turned.org_id AND latest_decisions.entity_id = turned.entity_id
      AND latest_decisions.decision_id = turned.decision_id AND latest_decisions.announced_verdict = turned.was RETURNING 1`
}

/** The triggers of a batch that also reviews decisions of the case run after this step, and close it. */
function changeCases(rows: readonly (CaseChange & OfOrganization)[], params: Params): string {
  const ordered = inOrder(rows, ({ org_id, id }) => `${org_id} ${id}`)
  const column = (name: keyof CaseChange | 'org_id', type: string) =>
    params.add(
      ordered.map((row) => row[name]),
      type,
    )
  return `UPDATE cases SET assignee_id = next.assignee_id, assigned_at = next.assigned_at
    FROM unnest(${column('org_id', 'text[]')}, ${column('id', 'text[]')}, ${column('assignee_id', 'text[]')}, ${column('assigned_at', 'timestamptz[]')},
      ${column('was', 'text[]')}, ${column('waiting', 'integer[]')}) AS next (org_id, id, assignee_id, assigned_at, was, waiting)
    WHERE cases.org_id = next.org_id AND cases.id = next.id AND cases.review_id IS NULL
      AND cases.assignee_id IS NOT DISTINCT FROM next.was AND cases.waiting = next.waiting RETURNING 1`
}

function endBacktests(rows: readonly (EndedBacktest & OfOrganization)[], params: Params): string {
  const ordered = inOrder(rows, ({ org_id }) => org_id)
  const column = (name: keyof EndedBacktest | 'org_id') =>
    params.add(
      ordered.map((row) => row[name]),
      'text[]',
    )
  return `UPDATE backtest_runs AS run SET beat_at = NULL, failure = ended.failure
    FROM unnest(${column('org_id')}, ${column('run_id')}, ${column('failure')}) AS ended (org_id, run_id, failure)
    WHERE run.org_id = ended.org_id AND run.run_id = ended.run_id AND run.beat_at IS NOT NULL RETURNING 1`
}

/** `to_adverse` is sticky; only `markLinksTo` clears it. */
function upsertLinks(rows: readonly RowOf<'graph_links'>[], params: Params): string {
  return upsertRows('graph_links', rows, params, {
    key: ['org_id', 'entity_id', 'neighbour_id', 'type', 'claim'],
    set: `verified = excluded.verified, base_ppm = excluded.base_ppm, since = excluded.since, expires = excluded.expires,
      to_adverse = graph_links.to_adverse OR excluded.to_adverse`,
  })
}

function removeLinks(
  rows: readonly Pick<RowOf<'graph_links'>, 'org_id' | 'entity_id' | 'neighbour_id' | 'type' | 'claim'>[],
  params: Params,
): string {
  const ordered = inOrder(rows, (row) => `${row.org_id} ${row.entity_id} ${row.neighbour_id} ${row.type} ${row.claim}`)
  const column = (name: keyof (typeof rows)[number]) =>
    params.add(
      ordered.map((row) => row[name]),
      'text[]',
    )
  return `DELETE FROM graph_links
    USING unnest(${column('org_id')}, ${column('entity_id')}, ${column('neighbour_id')}, ${column('type')}, ${column('claim')})
      AS removed (org_id, entity_id, neighbour_id, type, claim)
    WHERE graph_links.org_id = removed.org_id AND graph_links.entity_id = removed.entity_id
      AND graph_links.neighbour_id = removed.neighbour_id AND graph_links.type = removed.type AND graph_links.claim = removed.claim`
}

function upsertPaymentFlows(rows: readonly RowOf<'payment_flows'>[], params: Params): string {
  return upsertRows('payment_flows', rows, params, {
    key: ['org_id', 'entity_id', 'counterparty_id', 'currency', 'month'],
    set: 'amount = excluded.amount',
  })
}

function upsertConsequences(rows: readonly RowOf<'consequences'>[], params: Params): string {
  return upsertRows('consequences', rows, params, { key: ['org_id', 'kind', 'entity_id'], set: 'mark = excluded.mark' })
}

/** Queues a re-evaluation of the latest decisions about changed entities: new facts may change the verdict. */
function queueReevaluations(entities: readonly RowOf<'entities'>[], params: Params): string {
  const [organizations, ids, marks] = [
    entities.map((entity) => entity.org_id),
    entities.map((entity) => entity.id),
    entities.map((entity) => `v${entity.version}`),
  ]
  return `INSERT INTO consequences (org_id, kind, entity_id, mark)
    SELECT latest.org_id, 'reevaluation', latest.entity_id, changed.mark FROM latest_decisions AS latest
    JOIN unnest(${params.add(organizations, 'text[]')}, ${params.add(ids, 'text[]')}, ${params.add(marks, 'text[]')}) AS changed (org_id, entity_id, mark)
      ON latest.org_id = changed.org_id AND latest.entity_id = changed.entity_id
    ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark`
}

function updateEntities(entities: readonly RowOf<'entities'>[], params: Params): string {
  const columns = columnsOf('entities')
  const assignments = changeableColumnsOf('entities').map((column) => `${column} = next.${column}`)
  return `UPDATE entities SET ${assignments.join(', ')}
    FROM (
      SELECT given.* FROM ${unnestRows('entities', entities, params)} AS given (${columns.join(', ')})
      JOIN entities AS locked ON locked.org_id = given.org_id AND locked.id = given.id
      ORDER BY locked.org_id, locked.id FOR UPDATE OF locked -- locked in key order, so that two statements cannot deadlock
    ) AS next
    WHERE entities.org_id = next.org_id AND entities.id = next.id AND entities.version = next.version - 1 RETURNING 1`
}

function changeKeys(keys: readonly (KeyChange & OfOrganization)[], params: Params): string {
  const column = (name: keyof KeyChange | 'org_id', type: string) =>
    params.add(
      keys.map((key) => key[name]),
      type,
    )
  return `UPDATE api_keys AS key SET retires_at = next.retires_at, disabled_at = next.disabled_at,
      revoked_at = next.revoked_at, entry_id = next.entry_id, mac = next.mac
    FROM unnest(${column('org_id', 'text[]')}, ${column('id', 'text[]')}, ${column('retires_at', 'timestamptz[]')},
      ${column('disabled_at', 'timestamptz[]')}, ${column('revoked_at', 'timestamptz[]')}, ${column('entry_id', 'text[]')},
      ${column('mac', 'text[]')}, ${column('was', 'text[]')})
      AS next (org_id, id, retires_at, disabled_at, revoked_at, entry_id, mac, was)
    WHERE key.org_id = next.org_id AND key.id = next.id AND key.entry_id = next.was RETURNING 1`
}

function addUsage(usage: readonly RowOf<'usage_by_day'>[], params: Params): string {
  const totals = new Map<string, RowOf<'usage_by_day'>>()
  for (const row of usage) {
    const name = `${row.org_id} ${row.day} ${row.node} ${row.counter}`
    totals.set(name, { ...row, count: row.count + (totals.get(name)?.count ?? 0) })
  }
  // Sorted against deadlocks: nearly every batch updates these rows, so batches in flight lock the same ones.
  const ordered = inOrder([...totals], ([name]) => name).map(([, row]) => row)
  return `${insertRows('usage_by_day', ordered, params)}
    ON CONFLICT (org_id, day, node, counter) DO UPDATE SET count = usage_by_day.count + excluded.count`
}
