import { setImmediate } from 'node:timers/promises'
import { recognizeCategory } from '../../core/facts/cashflow/recognize-category.ts'
import {
  ACCOUNT_DAYS_MAX,
  applyTransactions,
  countAccountDays,
  type EntityState,
  type TransactionFact,
} from '../../core/facts/entity-state.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { formatMoney, moneyOf } from '../../core/money.ts'
import type { Violation } from '../../http/violation.ts'
import type { NewRow, RowOf } from '../../store/schema/tables.ts'
import type { PaymentBetween } from '../../underwriting/payment-links.ts'
import { updatePaymentLinks } from '../../underwriting/update-payment-links.ts'
import { fail, failValidation } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { withState } from '../next-entity.ts'
import { record } from '../record.ts'
import { refuseFuture, reportedTime } from '../reported-time.ts'
import { EntityPath } from '../schemas/fields.ts'
import {
  IngestTransactionsRequest,
  TRANSACTIONS_PER_BATCH_MAX,
  type Transaction,
  TransactionBatch,
} from '../schemas/transaction.ts'
import { timeOfChange } from '../time-of-change.ts'

/** Records transactions of an entity; duplicates change nothing. */
export const ingestTransactions = defineEndpoint({
  operationId: 'ingestTransactions',
  summary: 'Ingest transactions',
  description:
    `Up to ${TRANSACTIONS_PER_BATCH_MAX} transactions in a batch. A transaction whose \`external_id\` was sent before is a duplicate and changes nothing. If one transaction is invalid, nothing of the batch is written. ` +
    'An entity can have transactions on 3200 of the last 400 days, counted for each currency: in eight currencies on every day, or in more that are used less often. ' +
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
    const entity = await store.entities.find({ organizationId: caller.organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const violations = body.transactions.flatMap(({ occurred_at }, index) =>
      refuseFuture(`/transactions/${index}/occurred_at`, occurred_at, now),
    )
    if (violations.length > 0) return failValidation(violations)

    const refused = await checkCounterparties(context, entity.id)
    if (refused) return refused

    const dated = body.transactions.map((sent) => ({ ...sent, occurred_at: reportedTime(sent.occurred_at, now) }))
    const sent = new Map(dated.toReversed().map((transaction) => [transaction.external_id, transaction]))
    const [known, hasFlows] = await Promise.all([
      store.entities.knownTransactions(caller.organizationId, entity.id, [...sent.keys()]),
      store.graph.hasPaymentFlows({ organizationId: caller.organizationId, id: entity.id }),
    ])
    const fresh = [...sent.values()].filter((transaction) => !known.has(transaction.external_id))
    const batch = {
      id: context.newId('txb'),
      object: 'transaction_batch' as const,
      entity_id: entity.id,
      received: body.transactions.length,
      accepted: fresh.length,
      duplicates: body.transactions.length - fresh.length,
      unrecognized_categories: countUnrecognized(body.transactions),
      created_at: now,
    }
    const { id, entity_id, received, accepted, duplicates } = batch
    const state = await addByCurrency(JSON.parse(entity.state) as EntityState, fresh.map(transactionFact))
    const days = countAccountDays(state.cashflow)
    if (days > ACCOUNT_DAYS_MAX) return failValidation([tooManyDays(days)])
    const next = withState(entity, now, state)
    const payments = fresh.flatMap(paymentOf)
    const mayLink = payments.length > 0 || (hasFlows && accepted > 0)
    const change = record(context, {
      ...(mayLink &&
        (await updatePaymentLinks(store, {
          organizationId: caller.organizationId,
          entity: next,
          payments,
          mark: id,
          now,
        }))),
      changedEntities: [next],
      rows: {
        transactions: fresh.map((transaction) => transactionRow(transaction, { entity_id, batch_id: id })),
      },
      domainEvents: [
        {
          type: 'transactions.ingested',
          subject: { type: 'transaction_batch', id },
          trailId: entity_id,
          data: { entity_id, batch_id: id, received, accepted, duplicates },
        },
      ],
      counts: [['transactions', accepted]],
    })
    return { status: 201, body: batch, change }
  },
})

/**
 * Adds transactions to a state. Each currency takes milliseconds, so other requests get their turn in between; the newest
 * day comes first, because it moves the window of all currencies.
 */
async function addByCurrency(state: EntityState, transactions: readonly TransactionFact[]): Promise<EntityState> {
  const newestDay = (batch: readonly TransactionFact[]) =>
    batch.reduce((newest, { occurredAt }) => Math.max(newest, dayOf(occurredAt)), 0)
  const batches = [...Map.groupBy(transactions, ({ currency }) => currency).values()]
  let next = state
  for (const [index, batch] of batches.sort((a, b) => newestDay(b) - newestDay(a)).entries()) {
    if (index > 0) await setImmediate()
    next = applyTransactions(next, batch)
  }
  return next
}

function tooManyDays(days: number): Violation {
  const message = `With the transactions stored before, the entity would have transactions on ${days} days of the last 400, counted for each currency; it can have ${ACCOUNT_DAYS_MAX}. Leave out the currencies that matter least.`
  return { param: '/transactions', message }
}

type IngestContext = RequestContext<unknown, unknown, { transactions: Transaction[] }>

/** The failure for the first counterparty that the organization does not have, or that is the entity itself. */
async function checkCounterparties({ body, caller, store }: IngestContext, entityId: string) {
  const ids = body.transactions.map(({ counterparty }) => counterparty?.entity_id)
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

function paymentOf({ counterparty, currency, amount, occurred_at }: Transaction): PaymentBetween[] {
  if (!counterparty?.entity_id) return []
  return [{ counterpartyId: counterparty.entity_id, currency, amount, occurredAt: occurred_at }]
}

/** How many different categories were sent that are not recognized, and so change nothing. */
function countUnrecognized(transactions: readonly Transaction[]): number {
  const sent = new Set(transactions.map(({ category }) => category))
  return [...sent].filter((text) => text !== undefined && recognizeCategory(text) === undefined).length
}

function transactionFact(transaction: Transaction): TransactionFact {
  const counterparty = transaction.counterparty?.entity_id ?? transaction.counterparty?.name
  return {
    externalId: transaction.external_id,
    occurredAt: transaction.occurred_at,
    amount: transaction.amount,
    currency: transaction.currency,
    direction: transaction.direction,
    ...(transaction.balance_after !== undefined && { balanceAfter: transaction.balance_after }),
    ...(transaction.category !== undefined && { category: transaction.category }),
    ...(transaction.description !== undefined && { description: transaction.description }),
    ...(counterparty !== undefined && { counterparty }),
  }
}

function transactionRow(
  transaction: Transaction,
  ids: Pick<RowOf<'transactions'>, 'entity_id' | 'batch_id'>,
): NewRow<'transactions'> {
  return {
    ...ids,
    account: '',
    external_id: transaction.external_id,
    occurred_at: transaction.occurred_at,
    amount: formatMoney(moneyOf(transaction.amount)),
    currency: transaction.currency,
    direction: transaction.direction,
    balance_after: transaction.balance_after === undefined ? null : formatMoney(moneyOf(transaction.balance_after)),
    category: transaction.category ?? null,
    description: transaction.description ?? null,
    counterparty_name: transaction.counterparty?.name ?? null,
    counterparty_entity_id: transaction.counterparty?.entity_id ?? null,
  }
}
