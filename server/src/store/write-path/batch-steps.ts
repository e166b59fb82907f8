import { isAuditedEvent } from '../../core/audit/audit-data.ts'
import { upsertIdentifierHolders } from '../environment/graph-claims.ts'
import { hexOf } from '../environment/idempotency-keys.ts'
import {
  changeableColumnsOf,
  columnsOf,
  insertRows,
  type Params,
  type RowOf,
  unnestAs,
  unnestRows,
} from '../schema/tables.ts'
import { type FlushMac, insertAuditEntries, listForSealing } from './audit-insert.ts'
import type {
  AuthenticatedChange,
  CaseChange,
  EndedBacktest,
  KeyChange,
  Lost,
  OfOrganization,
  TurnedVerdict,
} from './change.ts'
import {
  hasDecision,
  insertDecisions,
  insertDocuments,
  latestDecision,
  type PackedDocuments,
  queueChecks,
} from './decision-statements.ts'
import { addErasures, deleteErasedEntities, deleteScenariosAbout, endErasures } from './erasure-statements.ts'
import { eventIdOf } from './record.ts'
import { inOrder, insertOnce, upsertRows, upsertVersions } from './row-statements.ts'
import { changeScenarios, removeScenarios } from './scenario-statements.ts'
import { type AnnouncedEvent, fanOutEvents, queueDeliveries, updateEndpoints } from './webhook-statements.ts'

/** What a statement is made with beside the rows of its changes. */
export interface StatementParts {
  macOf: FlushMac
  /** The documents of the decisions that it writes. */
  packed: readonly PackedDocuments[]
}

/** One step (CTE) of the statement: the rows that it takes from a change, and the SQL that writes them. */
interface Step<T extends OfOrganization> {
  rowsOf(change: AuthenticatedChange): readonly Omit<T, 'org_id'>[]
  sql(rows: readonly T[], params: Params, parts: StatementParts): string
  /** Set if a row is written only while it is as it was read. */
  guard?: Guard<T>
  /** An entity or trail whose rows the step locks: a second statement in flight would wait for it. */
  locks?(row: Omit<T, 'org_id'>): string
  /** The step inserts deliveries; the statement returns their number. */
  queuesDeliveries?: true
}

/** The precondition of a row. */
interface Guard<T> {
  /** Unless every row of the step is written, the statement fails with this name. */
  precondition: Lost
  /** Names the row within its organization: a statement can check it only once, so at most one change of a batch has it. */
  row?(row: Omit<T, 'org_id'>): string
}

/** Type-checks a step's SQL against its rows, then erases the row type so that all steps fit one list. */
function defineStep<T extends OfOrganization>(step: Step<T>): Step<OfOrganization> {
  return step as unknown as Step<OfOrganization>
}

/** The steps in the order of the statement; inserts into plain tables follow them. What a change locks is derived from them. */
export const STEPS: readonly Step<OfOrganization>[] = [
  defineStep<RowOf<'idempotency_keys'>>({
    rowsOf: ({ idempotencyKey }) => (idempotencyKey ? [idempotencyKey] : []),
    sql: (rows, params) =>
      insertOnce(
        'idempotency_keys',
        inOrder(rows, (row) => `${row.org_id} ${hexOf(row.key_hash)}`),
        params,
      ),
    guard: { precondition: 'idempotency_key', row: ({ key_hash }) => `key ${hexOf(key_hash)}` },
  }),
  defineStep<RowOf<'entities'>>({
    rowsOf: ({ newEntities = [] }) => newEntities,
    sql: (rows, params) =>
      `${insertRows(
        'entities',
        inOrder(rows, (row) => `${row.org_id} ${row.external_id}`),
        params,
      )} ON CONFLICT DO NOTHING RETURNING 1`,
    guard: { precondition: 'new_entity', row: ({ external_id }) => `external_id ${external_id}` },
  }),
  defineStep({
    rowsOf: ({ changedEntities = [] }) => changedEntities,
    sql: updateEntities,
    guard: { precondition: 'entity_version', row: ({ id }) => `entity ${id}` },
    locks: ({ id }) => id,
  }),
  defineStep({
    rowsOf: ({ changedEntities = [] }) => changedEntities,
    sql: queueReevaluations,
  }),
  defineStep({
    rowsOf: ({ changedTransactions = [] }) => changedTransactions,
    sql: changeTransactions,
    guard: {
      precondition: 'entity_version',
      row: ({ entity_id, account, external_id }) => `transaction ${entity_id} ${account} ${external_id}`,
    },
  }),
  defineStep({ rowsOf: ({ bankAccounts = [] }) => bankAccounts, sql: upsertBankAccounts }),
  defineStep({ rowsOf: ({ dataSources = [] }) => dataSources, sql: addDataSources }),
  defineStep<RowOf<'graph_track_records'>>({
    rowsOf: ({ changedTrackRecords = [] }) => changedTrackRecords,
    sql: (rows, params) => upsertVersions('graph_track_records', rows, params, 'entity_id'),
    guard: { precondition: 'entity_version', row: ({ entity_id }) => `track record ${entity_id}` },
  }),
  defineStep<RowOf<'open_offers'>>({
    rowsOf: ({ changedOffers = [] }) => changedOffers.filter(({ version }) => version === 1),
    sql: (rows, params) =>
      insertOnce(
        'open_offers',
        inOrder(rows, (row) => `${row.org_id} ${row.entity_id}`),
        params,
      ),
    guard: { precondition: 'open_offers', row: ({ entity_id }) => `open offers ${entity_id}` },
  }),
  defineStep<RowOf<'open_offers'>>({
    rowsOf: ({ changedOffers = [] }) => changedOffers.filter(({ version }) => version > 1),
    sql: (rows, params) => upsertVersions('open_offers', rows, params, 'entity_id'),
    guard: { precondition: 'open_offers', row: ({ entity_id }) => `open offers ${entity_id}` },
  }),
  defineStep<RowOf<'graph_claims'>>({
    rowsOf: ({ claims = [] }) => claims,
    sql: (rows, params) => upsertVersions('graph_claims', rows, params, 'claim'),
    guard: { precondition: 'claim_version', row: ({ claim }) => `claim ${claim}` },
  }),
  defineStep({
    rowsOf: ({ changedKeys = [] }) => changedKeys,
    sql: changeKeys,
    guard: { precondition: 'api_key', row: ({ id }) => `api key ${id}` },
  }),
  defineStep({
    rowsOf: ({ turnedVerdicts = [] }) => turnedVerdicts,
    sql: turnVerdicts,
    guard: { precondition: 'turned_verdict', row: ({ decision_id }) => `verdict ${decision_id}` },
  }),
  defineStep({
    rowsOf: ({ changedCases = [] }) => changedCases,
    sql: changeCases,
    guard: { precondition: 'case', row: ({ id }) => `case ${id}` },
  }),
  defineStep({
    rowsOf: ({ changedScenarios = [] }) => changedScenarios,
    sql: changeScenarios,
    guard: { precondition: 'scenario', row: ({ id }) => `scenario ${id}` },
  }),
  defineStep({
    rowsOf: ({ removedScenarios = [] }) => removedScenarios,
    sql: removeScenarios,
    guard: { precondition: 'scenario', row: ({ id }) => `scenario ${id}` },
  }),
  defineStep({
    rowsOf: ({ endedBacktests = [] }) => endedBacktests,
    sql: endBacktests,
    guard: { precondition: 'backtest', row: ({ run_id }) => `backtest ${run_id}` },
  }),
  defineStep({
    rowsOf: ({ deletedBacktests = [] }) => deletedBacktests,
    sql: deleteBacktests,
    guard: { precondition: 'backtest', row: ({ id }) => `backtest ${id}` },
  }),
  defineStep({
    rowsOf: ({ newErasures = [] }) => newErasures,
    sql: deleteErasedEntities,
    guard: { precondition: 'entity_version', row: ({ entity_id }) => `entity ${entity_id}` },
    locks: ({ entity_id }) => entity_id,
  }),
  defineStep({ rowsOf: ({ newErasures = [] }) => newErasures, sql: deleteScenariosAbout }),
  defineStep({
    rowsOf: ({ newErasures = [] }) => newErasures,
    sql: addErasures,
    guard: { precondition: 'erasure', row: ({ entity_id }) => `erasure ${entity_id}` },
  }),
  defineStep({
    rowsOf: ({ endedErasures = [] }) => endedErasures,
    sql: endErasures,
    guard: { precondition: 'erasure', row: ({ entity_id }) => `erasure ${entity_id}` },
  }),
  defineStep({
    rowsOf: ({ decisions = [] }) => decisions,
    sql: insertDecisions,
    guard: { precondition: 'erased' },
  }),
  defineStep({ rowsOf: ({ decisions = [] }) => decisions, sql: queueChecks }),
  defineStep({
    rowsOf: ({ decisions = [] }) => decisions,
    sql: (_rows, params, { packed }) => insertDocuments(packed, params),
  }),
  defineStep({ rowsOf: ({ links = [] }) => links, sql: upsertLinks }),
  defineStep({ rowsOf: ({ removedLinks = [] }) => removedLinks, sql: removeLinks }),
  defineStep({
    rowsOf: ({ rows }) => rows?.identity_links?.filter((link) => link.identifier_hash !== null) ?? [],
    sql: upsertIdentifierHolders,
  }),
  defineStep({ rowsOf: ({ paymentFlows = [] }) => paymentFlows, sql: upsertPaymentFlows }),
  defineStep({
    rowsOf: ({ consequences = [] }) => consequences,
    sql: upsertConsequences,
    locks: ({ entity_id }) => entity_id,
  }),
  defineStep({
    rowsOf: ({ auditEntries = [] }) => auditEntries,
    sql: insertAuditEntries,
    locks: ({ trail_id }) => trail_id,
  }),
  defineStep({ rowsOf: ({ auditEntries = [] }) => auditEntries, sql: listForSealing }),
  defineStep({
    rowsOf: ({ changedEndpoints = [] }) => changedEndpoints,
    sql: updateEndpoints,
    guard: { precondition: 'endpoint_version', row: ({ id }) => `endpoint ${id}` },
  }),
  defineStep({ rowsOf: announcedBy, sql: fanOutEvents, queuesDeliveries: true }),
  defineStep({
    rowsOf: ({ queuedDeliveries = [] }) => queuedDeliveries,
    sql: queueDeliveries,
    queuesDeliveries: true,
  }),
  defineStep({ rowsOf: ({ usage = [] }) => usage, sql: addUsage }),
]

/** The events of a change: those that are stored as such, and the audit entries that are events. */
function announcedBy({ rows, auditEntries = [] }: AuthenticatedChange): AnnouncedEvent[] {
  const audited = auditEntries.filter(({ type }) => isAuditedEvent(type))
  return [
    ...(rows?.events ?? []),
    ...audited.map(({ id, type, occurred_at }) => ({ id: eventIdOf(id), type, created_at: occurred_at })),
  ]
}

function changeTransactions(transactions: readonly RowOf<'transactions'>[], params: Params): string {
  const columns = columnsOf('transactions')
  const assignments = columns
    .filter((column) => !TRANSACTION_KEY.includes(column))
    .map((column) => `${column} = next.${column}`)
  const ordered = inOrder(transactions, (row) => TRANSACTION_KEY.map((column) => row[column as 'org_id']).join(' '))
  return `UPDATE transactions SET ${assignments.join(', ')}
    FROM ${unnestRows('transactions', ordered, params)} AS next (${columns.join(', ')})
    WHERE ${TRANSACTION_KEY.map((column) => `transactions.${column} = next.${column}`).join(' AND ')} RETURNING 1`
}

const TRANSACTION_KEY: readonly string[] = ['org_id', 'entity_id', 'account', 'external_id']

function upsertBankAccounts(accounts: readonly RowOf<'bank_accounts'>[], params: Params): string {
  return upsertRows('bank_accounts', accounts, params, {
    key: ['org_id', 'entity_id', 'account'],
    set: 'kind = excluded.kind, holders = excluded.holders, updated_at = excluded.updated_at',
  })
}

function addDataSources(sources: readonly RowOf<'data_sources'>[], params: Params): string {
  const ordered = inOrder(sources, ({ org_id, entity_id, provides, id }) => `${org_id} ${entity_id} ${provides} ${id}`)
  return `${insertRows('data_sources', ordered, params)} ON CONFLICT DO NOTHING`
}

/** Two nodes that announce the first turn at once conflict: the row that the second finds has another verdict than `previous`. */
function turnVerdicts(rows: readonly (TurnedVerdict & OfOrganization)[], params: Params): string {
  const ordered = inOrder(rows, ({ org_id, decision_id }) => `${org_id} ${decision_id}`)
  const columns = { org_id: 'text', entity_id: 'text', decision_id: 'text', verdict: 'text', previous: 'text' }
  return `INSERT INTO turned_verdicts (org_id, decision_id, verdict, previous)
    SELECT turned.org_id, turned.decision_id, turned.verdict, turned.previous FROM ${unnestAs('turned', ordered, columns, params)}
    WHERE turned.decision_id = (SELECT latest.id FROM ${latestDecision('turned.org_id', 'turned.entity_id')} AS latest)
    ON CONFLICT (org_id, decision_id) DO UPDATE SET verdict = excluded.verdict, previous = excluded.previous
      WHERE turned_verdicts.verdict = excluded.previous RETURNING 1`
}

/** The triggers of a batch that also reviews decisions of the case run after this step, and close it. */
function changeCases(rows: readonly (CaseChange & OfOrganization)[], params: Params): string {
  const ordered = inOrder(rows, ({ org_id, id }) => `${org_id} ${id}`)
  const held = { assignee_id: 'text', assigned_at: 'timestamptz', signature_id: 'text', signer_id: 'text' }
  const columns = { org_id: 'text', id: 'text', ...held, was: 'text', was_signature: 'text', waiting: 'integer' }
  return `UPDATE cases SET assignee_id = next.assignee_id, assigned_at = next.assigned_at,
      signature_id = next.signature_id, signer_id = next.signer_id
    FROM ${unnestAs('next', ordered, columns, params)}
    WHERE cases.org_id = next.org_id AND cases.id = next.id AND cases.review_id IS NULL
      AND cases.assignee_id IS NOT DISTINCT FROM next.was AND cases.signature_id IS NOT DISTINCT FROM next.was_signature
      AND cases.waiting = next.waiting RETURNING 1`
}

function endBacktests(rows: readonly (EndedBacktest & OfOrganization)[], params: Params): string {
  const ordered = inOrder(rows, ({ org_id }) => org_id)
  return `UPDATE backtest_runs AS run SET beat_at = NULL, failure = ended.failure
    FROM ${unnestAs('ended', ordered, { org_id: 'text', run_id: 'text', failure: 'text' }, params)}
    WHERE run.org_id = ended.org_id AND run.run_id = ended.run_id AND run.beat_at IS NOT NULL RETURNING 1`
}

function deleteBacktests(rows: readonly ({ id: string } & OfOrganization)[], params: Params): string {
  return `DELETE FROM policy_backtests AS kept USING ${unnestAs('old', rows, { org_id: 'text', id: 'text' }, params)}
    WHERE kept.org_id = old.org_id AND kept.id = old.id RETURNING 1`
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
  const columns = { org_id: 'text', entity_id: 'text', neighbour_id: 'text', type: 'text', claim: 'text' }
  return `DELETE FROM graph_links
    USING ${unnestAs('removed', ordered, columns, params)}
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

/**
 * Queues a re-evaluation of the latest decisions about changed entities, and about those that they are merged with: new facts
 * may change the verdict.
 */
function queueReevaluations(entities: readonly RowOf<'entities'>[], params: Params): string {
  const marked = inOrder(
    entities.map(({ org_id, id, version }) => ({ org_id, id, mark: `v${version}` })),
    ({ org_id, id }) => `${org_id} ${id}`,
  )
  return `INSERT INTO consequences (org_id, kind, entity_id, mark)
    SELECT changed.org_id, 'reevaluation', changed.id, changed.mark
    FROM ${unnestAs('changed', marked, { org_id: 'text', id: 'text', mark: 'text' }, params)}
    WHERE ${hasDecision('changed.org_id', 'changed.id')}
      OR EXISTS (SELECT FROM entity_merges AS merge WHERE merge.org_id = changed.org_id AND merge.entity_id = changed.id AND merge.step = 'approved')
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
  const times = { retires_at: 'timestamptz', disabled_at: 'timestamptz', revoked_at: 'timestamptz' }
  const columns = { org_id: 'text', id: 'text', ...times, entry_id: 'text', mac: 'text', was: 'text' }
  return `UPDATE api_keys AS key SET retires_at = next.retires_at, disabled_at = next.disabled_at,
      revoked_at = next.revoked_at, entry_id = next.entry_id, mac = next.mac
    FROM ${unnestAs('next', keys, columns, params)}
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
