import type { TransactionFact } from '../../core/facts/entity-state.ts'
import { formatMoney, moneyNumber, moneyOf, moneyOfText } from '../../core/money.ts'
import type { SourceKind, TransactionDirection } from '../../core/vocabularies.ts'
import { timeOfId } from '../../ids/new-id.ts'
import type { TransactionName, TransactionRow } from '../../store/environment/transactions.ts'
import { CLOCK_SKEW_MS } from '../reported-time.ts'
import type { Transaction } from '../schemas/transaction.ts'

/** What the row of a transaction has besides what was sent of it. */
export type RowContext = Pick<TransactionRow, 'entity_id' | 'account' | 'batch_id' | 'provided_by'>

/** The row of a transaction that is to be recorded. */
export function transactionRow(transaction: Transaction, context: RowContext): TransactionRow {
  const { balance_after, counterparty } = transaction
  return {
    ...context,
    external_id: transaction.external_id,
    occurred_at: transaction.occurred_at,
    amount: formatMoney(moneyOf(transaction.amount)),
    currency: transaction.currency,
    direction: transaction.direction,
    balance_after: balance_after === undefined ? null : formatMoney(moneyOf(balance_after)),
    category: transaction.category ?? null,
    description: transaction.description ?? null,
    // An entity has a name of its own, which its erasure takes away; here it would stay.
    counterparty_name: counterparty?.entity_id === undefined ? (counterparty?.name ?? null) : null,
    counterparty_entity_id: counterparty?.entity_id ?? null,
    void_batch_id: null,
  }
}

/** The kinds of the sources that rows name, by their ids. */
export type SourceKinds = ReadonlyMap<string, SourceKind>

/** The transaction of a row, as the state takes it. */
export function transactionFact(row: TransactionRow, kinds: SourceKinds): TransactionFact {
  const providedBy = row.provided_by === null ? undefined : kinds.get(row.provided_by)
  const counterparty = row.counterparty_entity_id ?? row.counterparty_name
  return {
    ...(row.account !== '' && { account: row.account }),
    externalId: row.external_id,
    occurredAt: row.occurred_at,
    amount: numberOf(row.amount),
    currency: row.currency,
    direction: row.direction as TransactionDirection,
    ...(row.balance_after !== null && { balanceAfter: numberOf(row.balance_after) }),
    ...(row.category !== null && { category: row.category }),
    ...(row.description !== null && { description: row.description }),
    ...(counterparty !== null && { counterparty }),
    ...(providedBy !== undefined && { providedBy }),
  }
}

function numberOf(amount: string): number {
  return moneyNumber(moneyOfText(amount))
}

/** A text for what names a transaction of an entity. */
export function nameOf({ account, external_id }: TransactionName): string {
  return `${account} ${external_id}`
}

/** Whether a transaction that was sent is recorded with the same content. */
export function isSameContent(sent: TransactionRow, recorded: TransactionRow): boolean {
  return sent.occurred_at === recorded.occurred_at && isSameButForTime(sent, recorded)
}

// Between the request and the id of its batch, it may have waited for its turn.
const REQUEST_MAX_MS = 60_000

/**
 * Whether a transaction that was sent again is recorded with the same content. A time that was ahead of our clock was recorded
 * as the time of the batch, so one that is later than that by no more than clocks differ is the same.
 */
export function isSentAgain(sent: TransactionRow, recorded: TransactionRow): boolean {
  const recordedAt = Date.parse(recorded.occurred_at)
  const later = Date.parse(sent.occurred_at) - recordedAt
  const wasAhead = recordedAt >= timeOfId(recorded.batch_id) - REQUEST_MAX_MS
  return later >= 0 && later <= (wasAhead ? CLOCK_SKEW_MS : 0) && isSameButForTime(sent, recorded)
}

function isSameButForTime(sent: TransactionRow, recorded: TransactionRow): boolean {
  return contentOf(sent) === contentOf(recorded)
}

function contentOf(row: TransactionRow): string {
  const { currency, direction, category, description, counterparty_name, counterparty_entity_id } = row
  const balance = row.balance_after === null ? null : String(moneyOfText(row.balance_after))
  const others = [currency, direction, category, description, counterparty_name, counterparty_entity_id]
  return JSON.stringify([String(moneyOfText(row.amount)), balance, ...others])
}
