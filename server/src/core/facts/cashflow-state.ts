import { moneyOf } from '../money.ts'
import type { TransactionDirection } from '../vocabularies.ts'
import type { EntityState } from './entity-state.ts'
import { type Month, monthIndex, monthOf } from './month.ts'
import { addToMonth, closeMonth, type MonthBucket, type OpenMonth, openMonth } from './month-bucket.ts'
import { ownProperty } from './own-property.ts'

/** One transaction of the entity's account; the caller has already removed duplicates. */
export interface TransactionFact {
  occurredAt: string
  externalId: string
  amount: number
  currency: string
  direction: TransactionDirection
  balanceAfter?: number
  /**
   * Four words change how a transaction counts; any other is ordinary income or spending.
   * `own_transfer`: between accounts of the same entity, neither income nor spending.
   * `loan_proceeds`: money borrowed, not income.
   * `loan_repayment`: an instalment of an existing loan, spending and also debt service.
   * `returned_payment`: a payment that bounced, counted as such, neither income nor spending.
   */
  category?: string
}

/** The balance after the latest transaction; the external id settles which of one instant is the latest. */
export interface LastBalance {
  at: string
  id: string
  units: string
}

/** The cash flow in one currency, by month. */
export interface CurrencyCashflow {
  firstAt: string
  lastAt: string
  /** The debits and returned payments among them, between which the account was surely watched; null while there were none. */
  debits: { firstAt: string; lastAt: string } | null
  transactions: number
  lastBalance: LastBalance | null
  months: Record<Month, MonthBucket>
}

/** The cash flow of an entity, by currency, over the newest months it was ever seen in. */
export interface CashflowState {
  newestMonth: Month | null
  currencies: Record<string, CurrencyCashflow>
}

// A year of full months, the month that is still running, and as many more as credits may come in after the last debit
// before what is known of the account is too old to be looked at.
const MONTHS_KEPT = 18

const MONTHS_IN_USE = 3

/** The index of the oldest month that is kept; nothing is known of the months before it. */
export function oldestMonthIndex(newestMonth: Month): number {
  return monthIndex(newestMonth) - MONTHS_KEPT + 1
}

/** Takes transactions into the month buckets of their currencies. */
export function applyTransactions(state: EntityState, transactions: readonly TransactionFact[]): EntityState {
  if (transactions.length === 0) return state
  const newestMonth = newestOfMonths(state.cashflow.newestMonth, transactions)
  const currencies = { ...state.cashflow.currencies }
  for (const [currency, batch] of byCurrency(transactions)) {
    currencies[currency] = withTransactions(ownProperty(currencies, currency), batch)
  }
  for (const [currency, cashflow] of Object.entries(currencies)) {
    currencies[currency] = { ...cashflow, months: withinWindow(cashflow.months, newestMonth) }
  }
  return { ...state, cashflow: { newestMonth, currencies } }
}

function withTransactions(known: CurrencyCashflow | undefined, batch: readonly TransactionFact[]): CurrencyCashflow {
  const open = new Map<Month, OpenMonth>()
  let { firstAt, lastAt, debits, lastBalance } = known ?? NOTHING_SEEN
  for (const transaction of batch) {
    const month = monthOf(transaction.occurredAt)
    const bucket = open.get(month) ?? openMonth(known && ownProperty(known.months, month))
    open.set(month, bucket)
    addToMonth(bucket, transaction)
    if (transaction.occurredAt < firstAt) firstAt = transaction.occurredAt
    if (transaction.occurredAt > lastAt) lastAt = transaction.occurredAt
    if (isTelling(transaction)) debits = spanWith(debits, transaction.occurredAt)
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

const NOTHING_SEEN = { firstAt: '9999', lastAt: '', debits: null, lastBalance: null }

function spanWith(span: CurrencyCashflow['debits'], at: string): NonNullable<CurrencyCashflow['debits']> {
  if (span === null) return { firstAt: at, lastAt: at }
  return { firstAt: at < span.firstAt ? at : span.firstAt, lastAt: at > span.lastAt ? at : span.lastAt }
}

/** A returned payment tells as much of how an account is conducted as a payment does, though it may come in as a credit. */
function isTelling({ direction, category }: TransactionFact): boolean {
  return direction === 'debit' || category === 'returned_payment'
}

/**
 * When the account was watched: from the first to the last debit, because there are always debits on an account in use.
 * A credit beyond them says that money came in, not that nothing else happened around it. An account with debits in less
 * than three months is not in use that way, and all there is counts.
 */
export function watchedSpan({ debits, firstAt, lastAt, months }: CurrencyCashflow): {
  firstAt: string
  lastAt: string
} {
  let inUse = 0
  for (const month in months) if (months[month]!.debits > 0) inUse += 1
  return debits !== null && inUse >= MONTHS_IN_USE ? debits : { firstAt, lastAt }
}

function laterBalance(known: LastBalance | null, transaction: TransactionFact): LastBalance | null {
  const { occurredAt: at, externalId: id, balanceAfter } = transaction
  if (balanceAfter === undefined) return known
  const isLater = known === null || at > known.at || (at === known.at && id > known.id)
  return isLater ? { at, id, units: moneyOf(balanceAfter).toString() } : known
}

/** The window only ever moves forward, so a month dropped now would have been dropped later too. */
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

function byCurrency(transactions: readonly TransactionFact[]): Map<string, TransactionFact[]> {
  const batches = new Map<string, TransactionFact[]>()
  for (const transaction of transactions) {
    const batch = batches.get(transaction.currency)
    if (batch) batch.push(transaction)
    else batches.set(transaction.currency, [transaction])
  }
  return batches
}
