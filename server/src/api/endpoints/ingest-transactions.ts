import { recognizeCategory } from '../../core/facts/cashflow/recognize-category.ts'
import { ACCOUNT_DAYS_MAX, countAccountDays, type EntityState } from '../../core/facts/entity-state.ts'
import type { EventData } from '../../core/webhooks/event-types.ts'
import type { Violation } from '../../http/violation.ts'
import type { EntityRow } from '../../store/environment/entities.ts'
import type { NewRow } from '../../store/schema/tables.ts'
import type { DomainEvent } from '../../store/write-path/record.ts'
import { updatePaymentLinks } from '../../underwriting/update-payment-links.ts'
import { fail, failValidation } from '../api-error.ts'
import { dataSourceRow, tooManySources } from '../data-source.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { withState } from '../next-entity.ts'
import { record } from '../record.ts'
import { refuseFuture, reportedTime } from '../reported-time.ts'
import { EntityPath } from '../schemas/fields.ts'
import {
  IngestTransactionsRequest,
  isToBeRecorded,
  type SentTransaction,
  TRANSACTIONS_PER_BATCH_MAX,
  TransactionBatch,
} from '../schemas/transaction.ts'
import { timeOfChange } from '../time-of-change.ts'
import { balanceFact, balanceRows, checkBalances, newBalances } from '../transactions/batch-balances.ts'
import { correctionOf } from '../transactions/correction-record.ts'
import { nextCashflow, TRANSACTIONS_READ_MAX } from '../transactions/next-cashflow.ts'
import { paymentsOf } from '../transactions/payments-of.ts'
import { type Asked, type BatchPlan, planBatch } from '../transactions/plan-batch.ts'
import {
  changedAccounts,
  type SaidOfAccounts,
  saidOfAccounts,
  tooManyAccounts,
} from '../transactions/said-of-accounts.ts'
import { transactionRow } from '../transactions/transaction-row.ts'

/** Records transactions of an entity, and corrects or voids those that are recorded; duplicates change nothing. */
export const ingestTransactions = defineEndpoint({
  operationId: 'ingestTransactions',
  summary: 'Ingest transactions',
  description:
    `Up to ${TRANSACTIONS_PER_BATCH_MAX} transactions in a batch. If one is invalid, nothing of the batch is written. ` +
    'A transaction whose `external_id` was sent before on the same account changes nothing: with the same content it is a duplicate, and with other content a conflict. With `corrects` it replaces the recorded one, with `voided` that counts no more; later decisions see it, and earlier ones replay as they were. Either is refused if nothing is recorded under the id. ' +
    `A request can correct and void transactions of days with ${TRANSACTIONS_READ_MAX} recorded transactions in all. ` +
    `An entity can have transactions or statement balances on ${ACCOUNT_DAYS_MAX} of the last 400 days, counted for each account and currency: on every day of eight accounts, or of more that are used less often. ` +
    'Statements that have no balance for each transaction give theirs in `balances`. ' +
    '`unrecognized_categories` in the answer tells how many of the categories change nothing because they are not known.',
  tag: 'Entities',
  method: 'POST',
  path: '/v1/entities/{entity_id}/transactions',
  scope: 'transactions:write',
  idempotency: 'required',
  serializedBy: ({ params }) => [params.entity_id],
  params: EntityPath,
  body: IngestTransactionsRequest,
  succeeds: { 201: TransactionBatch },
  fails: ['entity_not_found', 'validation_failed'],

  async handle(request) {
    const { params, body, caller, store } = request
    const { organizationId } = caller
    const entity = await store.entities.find({ organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const said = saidOfAccounts(body, (id) => request.accountKey({ organizationId, id }))
    const violations = [...said.violations, ...checkBatch(context, said)]
    if (violations.length > 0) return failValidation(violations)
    const refused = await checkCounterparties(context, entity.id)
    if (refused) return refused

    const batch = { id: context.newId('txb'), entityId: entity.id }
    const { asked, sent, sources } = rowsOf(context, { said, batch, version: entity.version + 1 })
    const [recorded, recordedBalances, hasFlows] = await Promise.all([
      store.transactions.named(
        organizationId,
        entity.id,
        asked.map(({ row }) => row),
      ),
      sent.length === 0 ? [] : store.transactions.namedBalances(organizationId, entity.id, sent),
      store.graph.hasPaymentFlows({ organizationId, id: entity.id }),
    ])
    const plan = planBatch(asked, recorded)
    if (plan.violations.length > 0) return failValidation(plan.violations)
    const balances = newBalances(sent, recordedBalances)

    const recordedRows = [...plan.added, ...plan.changed.map(({ after }) => after), ...balances]
    const dataSources = namedSources(sources, recordedRows)
    const named = { sources: dataSources, param: body.provided_by ? '/provided_by' : '/transactions' }
    const tooMany = await tooManySources(store, { organizationId, entityId: entity.id }, named)
    if (tooMany.length > 0) return failValidation(tooMany)

    const before = JSON.parse(entity.state) as EntityState
    const facts = { plan, sources, balances: balances.map(balanceFact), accounts: said.terms }
    const cashflow = await nextCashflow(store, { organizationId, entityId: entity.id, state: before }, facts)
    if ('violations' in cashflow) return failValidation(cashflow.violations)
    const { state } = cashflow
    const sentIn = body.transactions.length > 0 ? '/transactions' : '/balances'
    const exceeded = [...tooManyDays(state, sentIn), ...tooManyAccounts(state.cashflow.accounts, sentIn)]
    if (exceeded.length > 0) return failValidation(exceeded)

    const next = withState(entity, now, state)
    const accounts = { before: before.cashflow.accounts, after: state.cashflow.accounts }
    const bankAccounts = changedAccounts(said, accounts, { entity_id: entity.id, now })
    const correction = correctionOf(plan, { organizationId, batch, now })
    const counted = { plan, batch, balances: balances.length, accounts: bankAccounts.length }
    const change = record(context, {
      ...(await paymentLinks(context, { plan, next, hasFlows: hasFlows ?? false, mark: batch.id })),
      changedEntities: [next],
      changedTransactions: plan.changed.map(({ after }) => after),
      bankAccounts,
      dataSources,
      rows: {
        transactions: plan.added,
        statement_balances: balances,
        transaction_corrections: correction ? [correction.row] : [],
      },
      domainEvents: [ingestedEvent(body.transactions.length, counted), ...(correction ? [correction.event] : [])],
      counts: [['transactions', plan.accepted]],
    })
    return { status: 201, body: describeBatch(context, counted), change }
  },
})

type IngestContext = RequestContext<unknown, unknown, IngestTransactionsRequest>

/** A batch and its entity. */
interface Batch {
  id: string
  entityId: string
}

/** The payment links that a batch changes: payments between entities, and the share of all others in the cash flow. */
async function paymentLinks(
  { caller: { organizationId }, store, now }: IngestContext,
  { plan, next, hasFlows, mark }: { plan: BatchPlan; next: EntityRow; hasFlows: boolean; mark: string },
) {
  const payments = paymentsOf(plan)
  const changesShares = hasFlows && (plan.added.length > 0 || plan.changed.length > 0)
  if (payments.length === 0 && !changesShares) return {}
  const corrected = plan.changed.map(({ before }) => before)
  return updatePaymentLinks(store, { organizationId, entity: next, payments, corrected, mark, now })
}

/** What the schema cannot say of a batch. */
function checkBatch(
  { body: { transactions, balances = [] }, now }: IngestContext,
  { keyOf }: SaidOfAccounts,
): Violation[] {
  if (transactions.length === 0 && balances.length === 0)
    return [{ param: '/transactions', message: 'transactions must have at least 1 item if there are no balances.' }]
  return [
    ...transactions.flatMap((sent, index) => checkTransaction(sent, `/transactions/${index}`, now)),
    ...checkBalances(balances, keyOf, now),
  ]
}

function checkTransaction(sent: SentTransaction, place: string, now: string): Violation[] {
  if (sent.voided) return sent.corrects ? [{ param: `${place}/corrects`, message: CORRECTED_AND_VOIDED }] : []
  return refuseFuture(`${place}/occurred_at`, sent.occurred_at, now)
}

const CORRECTED_AND_VOIDED =
  'corrects and voided contradict each other. Leave out corrects to void the transaction, or voided to replace it.'

/** The failure for the first counterparty that the organization does not have, or that is the entity itself. */
async function checkCounterparties({ body, caller, store }: IngestContext, entityId: string) {
  const ids = body.transactions.map((sent) => (isToBeRecorded(sent) ? sent.counterparty?.entity_id : undefined))
  if (ids.every((id) => id === undefined)) return undefined
  const known = await store.graph.knownEntities(caller.organizationId, [
    ...new Set(ids.filter((id) => id !== undefined)),
  ])
  const unknown = ids.findIndex((id) => id !== undefined && !known.has(id))
  if (unknown >= 0) return fail('entity_not_found', { param: `/transactions/${unknown}/counterparty/entity_id` })
  const own = ids.indexOf(entityId)
  if (own >= 0)
    return failValidation([
      { param: `/transactions/${own}/counterparty/entity_id`, message: 'An entity cannot be its own counterparty.' },
    ])
  return undefined
}

/** What a batch asks for, its statement balances and its sources, as rows. */
function rowsOf(
  { body, now }: IngestContext,
  { said, batch, version }: { said: SaidOfAccounts; batch: Batch; version: number },
) {
  const ids = { entity_id: batch.entityId, batch_id: batch.id }
  const sourceOf = (source: SentTransaction['provided_by']) =>
    dataSourceRow(source, { entity_id: batch.entityId, provides: 'transactions', now })
  const shared = sourceOf(body.provided_by)
  const own = body.transactions.map(({ provided_by }) => (provided_by === undefined ? shared : sourceOf(provided_by)))
  const asked = body.transactions.map((sent, index): Asked => {
    const account = said.keyOf(sent.account)
    if (!isToBeRecorded(sent)) return { action: 'void', row: { account, external_id: sent.external_id, ...ids } }
    const dated = { ...sent, occurred_at: reportedTime(sent.occurred_at, now) }
    const row = transactionRow(dated, { ...ids, account, provided_by: own[index]?.id ?? null })
    return { action: sent.corrects ? 'correct' : 'record', row }
  })
  const balanceContext = { ...ids, entity_version: version, provided_by: shared?.id ?? null }
  return {
    asked,
    sent: balanceRows(body.balances ?? [], said.keyOf, balanceContext),
    sources: [...new Map([shared, ...own].flatMap((row) => (row ? [[row.id, row] as const] : []))).values()],
  }
}

/** The sources of what a batch records: one that only sent duplicates, conflicts or voids provided nothing. */
function namedSources(
  sources: readonly NewRow<'data_sources'>[],
  recorded: readonly { provided_by: string | null }[],
): NewRow<'data_sources'>[] {
  const named = new Set(recorded.map(({ provided_by }) => provided_by))
  return sources.filter(({ id }) => named.has(id))
}

function tooManyDays({ cashflow }: EntityState, param: string): Violation[] {
  const days = countAccountDays(cashflow)
  if (days <= ACCOUNT_DAYS_MAX) return []
  const message = `With what was sent before, the entity would have transactions or statement balances on ${days} days of the last 400, counted for each account and currency; it can have ${ACCOUNT_DAYS_MAX}. Leave out the accounts and currencies that matter least.`
  return [{ param, message }]
}

function ingestedEvent(
  received: number,
  { plan, batch, balances, accounts }: { plan: BatchPlan; batch: Batch; balances: number; accounts: number },
): DomainEvent {
  const data: EventData<'transactions.ingested'> = {
    entity_id: batch.entityId,
    batch_id: batch.id,
    received,
    accepted: plan.accepted,
    duplicates: plan.duplicates,
    ...(plan.conflicting.length > 0 && { conflicts: plan.conflicting.length }),
    ...(balances > 0 && { balances }),
    ...(accounts > 0 && { accounts_changed: accounts }),
  }
  return {
    type: 'transactions.ingested',
    subject: { type: 'transaction_batch', id: batch.id },
    trailId: batch.entityId,
    data,
  }
}

const CONFLICTS_LISTED = 100

function describeBatch(
  { body: { transactions }, now }: IngestContext,
  { plan, batch, balances }: { plan: BatchPlan; batch: Batch; balances: number },
) {
  const { accepted, duplicates, conflicting, replaced } = plan
  const voided = replaced.filter(({ action }) => action === 'void').length
  return {
    id: batch.id,
    object: 'transaction_batch' as const,
    entity_id: batch.entityId,
    received: transactions.length,
    accepted,
    duplicates,
    conflicts: conflicting.length,
    corrected: replaced.length - voided,
    voided,
    conflicting_ids: conflicting.slice(0, CONFLICTS_LISTED),
    balances,
    unrecognized_categories: countUnrecognized(transactions),
    created_at: now,
  }
}

/** How many different categories were sent that are not recognized, and so change nothing. */
function countUnrecognized(transactions: readonly SentTransaction[]): number {
  const sent = new Set(transactions.filter(isToBeRecorded).map(({ category }) => category))
  return [...sent].filter((text) => text !== undefined && recognizeCategory(text) === undefined).length
}
