import { applyTransactions, type TransactionFact } from '../../core/facts/entity-state.ts'
import { formatMoney, moneyOf } from '../../core/money.ts'
import type { NewRow, RowOf } from '../../store/schema/tables.ts'
import type { PaymentBetween } from '../../underwriting/payment-links.ts'
import { updatePaymentLinks } from '../../underwriting/update-payment-links.ts'
import { fail, failValidation, type Violation } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { EntityPath } from '../schemas/fields.ts'
import { IngestTransactionsRequest, type Transaction, TransactionBatch } from '../schemas/transaction.ts'
import { timeOfChange } from '../time-of-change.ts'
import { utcTime } from '../utc-time.ts'

/** Records transactions of an entity; duplicates change nothing. */
export const ingestTransactions = defineEndpoint({
  operationId: 'ingestTransactions',
  summary: 'Ingest transactions',
  description:
    'Up to 1000 transactions in a batch. A transaction whose `external_id` was sent before is a duplicate and changes nothing. If one transaction is invalid, nothing of the batch is written.',
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
    const entity = await store.entity({ organizationId: caller.organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const violations = body.transactions.flatMap((transaction, index) =>
      checkTransaction(transaction, `/transactions/${index}`, now),
    )
    if (violations.length > 0) return failValidation(violations)

    const refused = await checkCounterparties(context, entity.id)
    if (refused) return refused

    const sent = new Map(body.transactions.toReversed().map((transaction) => [transaction.external_id, transaction]))
    const [known, hasFlows] = await Promise.all([
      store.knownTransactions(caller.organizationId, entity.id, [...sent.keys()]),
      store.hasPaymentFlows({ organizationId: caller.organizationId, id: entity.id }),
    ])
    const fresh = [...sent.values()].filter((transaction) => !known.has(transaction.external_id))
    const batch = {
      id: context.newId('txb'),
      object: 'transaction_batch' as const,
      entity_id: entity.id,
      received: body.transactions.length,
      accepted: fresh.length,
      duplicates: body.transactions.length - fresh.length,
      created_at: now,
    }
    const { id, entity_id, received, accepted, duplicates } = batch
    const next = nextEntity(entity, now, (state) => applyTransactions(state, fresh.map(transactionFact)))
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

function checkTransaction({ occurred_at }: Transaction, pointer: string, now: string): Violation[] {
  return utcTime(occurred_at) > now
    ? [{ param: `${pointer}/occurred_at`, message: 'occurred_at is in the future.' }]
    : []
}

type IngestContext = RequestContext<unknown, unknown, { transactions: Transaction[] }>

/** The failure for the first counterparty that the organization does not have, or that is the entity itself. */
async function checkCounterparties({ body, caller, store }: IngestContext, entityId: string) {
  const ids = body.transactions.map(({ counterparty }) => counterparty?.entity_id)
  if (ids.every((id) => id === undefined)) return undefined
  const known = await store.knownEntities(caller.organizationId, [...new Set(ids.filter((id) => id !== undefined))])
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
  return [{ counterpartyId: counterparty.entity_id, currency, amount, occurredAt: utcTime(occurred_at) }]
}

function transactionFact(transaction: Transaction): TransactionFact {
  return {
    externalId: transaction.external_id,
    occurredAt: utcTime(transaction.occurred_at),
    amount: transaction.amount,
    currency: transaction.currency,
    direction: transaction.direction,
    ...(transaction.balance_after !== undefined && { balanceAfter: transaction.balance_after }),
    ...(transaction.category !== undefined && { category: transaction.category }),
  }
}

function transactionRow(
  transaction: Transaction,
  ids: Pick<RowOf<'transactions'>, 'entity_id' | 'batch_id'>,
): NewRow<'transactions'> {
  return {
    ...ids,
    external_id: transaction.external_id,
    occurred_at: utcTime(transaction.occurred_at),
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
