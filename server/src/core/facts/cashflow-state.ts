import { moneyOf } from '../money.ts'
import { type Month, monthIndex, monthOf } from './month.ts'
import { addToMonth, closeMonth, type MonthBucket, type OpenMonth, openMonth } from './month-bucket.ts'
import { ownProperty } from './own-property.ts'
import { hasCategory } from './transaction-categories.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** The balance after the latest transaction; of several at one instant, the highest external id is the latest. */
export interface LastBalance {
  at: string
  id: string
  units: string
}

/** The first and the last instant of a period, both included. */
export interface Span {
  firstAt: string
  lastAt: string
}

/** The cash flow in one currency, by month. */
export interface CurrencyCashflow extends Span {
  /** The span of debits and returned payments, in which the account was certainly observed; null without any. */
  debits: Span | null
  transactions: number
  lastBalance: LastBalance | null
  months: Record<Month, MonthBucket>
}

/** The cash flow of an entity by currency, over the newest months that have transactions in any currency. */
export interface CashflowState {
  newestMonth: Month | null
  currencies: Record<string, CurrencyCashflow>
}

// Twelve full months, the current month, and five more: so many months of credits may follow the last debit before the
// observed span is too old to count.
const MONTHS_KEPT = 18

const MONTHS_IN_USE = 3

/** The index of the oldest month that is kept; nothing is known of the months before it. */
export function oldestMonthIndex(newestMonth: Month): number {
  return monthIndex(newestMonth) - MONTHS_KEPT + 1
}

/** Adds transactions to the month buckets of their currencies. */
export function addTransactions(state: CashflowState, transactions: readonly TransactionFact[]): CashflowState {
  if (transactions.length === 0) return state
  const newestMonth = newestOfMonths(state.newestMonth, transactions)
  const currencies = { ...state.currencies }
  for (const [currency, batch] of Map.groupBy(transactions, (transaction) => transaction.currency)) {
    currencies[currency] = withTransactions(ownProperty(currencies, currency), batch)
  }
  for (const [currency, cashflow] of Object.entries(currencies)) {
    currencies[currency] = { ...cashflow, months: withinWindow(cashflow.months, newestMonth) }
  }
  return { newestMonth, currencies }
}

function withTransactions(known: CurrencyCashflow | undefined, batch: readonly TransactionFact[]): CurrencyCashflow {
  const open = new Map<Month, OpenMonth>()
  let { firstAt, lastAt, debits, lastBalance } = known ?? NO_TRANSACTIONS
  for (const transaction of batch) {
    const month = monthOf(transaction.occurredAt)
    const bucket = open.get(month) ?? openMonth(known && ownProperty(known.months, month))
    open.set(month, bucket)
    addToMonth(bucket, transaction)
    if (transaction.occurredAt < firstAt) firstAt = transaction.occurredAt
    if (transaction.occurredAt > lastAt) lastAt = transaction.occurredAt
    if (provesObservation(transaction)) debits = spanWith(debits, transaction.occurredAt)
    lastBalance = laterBalance(lastBalance, transaction)
  }
  const touched = Array.from(open, ([month, bucket]) => [month, closeMonth(bucket)] as const)
  return {
    firstAt,
    lastAt,
    debits,
    transactions: (known?.transactions ?? 0) + batch.length,
    lastBalance,
    months: { ...known?.months, ...Object.fromEntries(touched) },
  }
}

const NO_TRANSACTIONS = { firstAt: '9999', lastAt: '', debits: null, lastBalance: null }

function spanWith(span: Span | null, at: string): Span {
  if (span === null) return { firstAt: at, lastAt: at }
  return { firstAt: at < span.firstAt ? at : span.firstAt, lastAt: at > span.lastAt ? at : span.lastAt }
}

/** A returned payment proves as much as a debit that the account was observed, even if it comes in as a credit. */
function provesObservation(transaction: TransactionFact): boolean {
  return transaction.direction === 'debit' || hasCategory(transaction, 'returned_payment')
}

/**
 * When the account was observed: from the first to the last debit, because an account in use always has debits.
 *
 * A credit outside that span shows that money came in, not that nothing else happened around it. An account with debits
 * in fewer than three months is not in regular use; then all its transactions count.
 */
export function observedSpan({ debits, firstAt, lastAt, months }: CurrencyCashflow): Span {
  const monthsInUse = Object.values(months).filter((month) => month.debits > 0).length
  return debits !== null && monthsInUse >= MONTHS_IN_USE ? debits : { firstAt, lastAt }
}

function laterBalance(known: LastBalance | null, transaction: TransactionFact): LastBalance | null {
  const { occurredAt: at, externalId: id, balanceAfter } = transaction
  if (balanceAfter === undefined) return known
  const isLater = known === null || at > known.at || (at === known.at && id > known.id)
  return isLater ? { at, id, units: moneyOf(balanceAfter).toString() } : known
}

/** Drops months before the window. The window only moves forward, so a dropped month can never be needed again. */
function withinWindow(months: Record<Month, MonthBucket>, newestMonth: Month): Record<Month, MonthBucket> {
  const oldest = oldestMonthIndex(newestMonth)
  const entries = Object.entries(months)
  const kept = entries.filter(([month]) => monthIndex(month) >= oldest)
  return kept.length === entries.length ? months : Object.fromEntries(kept)
}

function newestOfMonths(known: Month | null, transactions: readonly TransactionFact[]): Month {
  let newest = known ?? ''
  for (const { occurredAt } of transactions) {
    const month = monthOf(occurredAt)
    if (month > newest) newest = month
  }
  return newest
}
