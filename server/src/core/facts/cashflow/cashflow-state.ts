import { dayOf } from '../../graph/decay.ts'
import { moneyOf } from '../../money.ts'
import { ownProperty } from '../../stored-json.ts'
import { sumUnits, type Units, unitsOf } from '../units.ts'
import { brokenBalances } from './balance-chain.ts'
import { circularFlows, placeOf } from './circular-flows.ts'
import { addToDay, type DayBucket, newDay, type PackedDay, packDay, unpackDay } from './day-bucket.ts'
import { type IncomeStream, incomeStreams } from './income-streams.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** The balance after the latest transaction; of several at one instant, the highest external id is the latest. */
export interface LastBalance {
  at: string
  id: string
  units: Units
}

/** The cash flow in one currency, by day. */
export interface CurrencyCashflow {
  firstAt: string
  lastAt: string
  transactions: number
  lastBalance: LastBalance | null
  /** Oldest first. */
  days: PackedDay[]
  /** Income that recurs, as found from the days. */
  streams: IncomeStream[]
}

/** The cash flow of an entity by currency, over the newest days that have transactions in any currency. */
export interface CashflowState {
  newestDay: number | null
  currencies: Record<string, CurrencyCashflow>
}

// A year, and a month before it so that a cadence is known at its start. The decision is never before the newest day.
const DAYS_KEPT = 400

/** How many days of transactions an entity can have, counted for each currency: eight currencies used on every day. */
export const CURRENCY_DAYS_MAX = 3_200

/** How many days the state keeps, counted for each currency. */
export function countCurrencyDays({ currencies }: CashflowState): number {
  return Object.values(currencies).reduce((count, { days }) => count + days.length, 0)
}

/** Adds transactions to the days of their currencies. */
export function addTransactions(state: CashflowState, transactions: readonly TransactionFact[]): CashflowState {
  if (transactions.length === 0) return state
  const newestDay = transactions.reduce(
    (newest, { occurredAt }) => Math.max(newest, dayOf(occurredAt)),
    state.newestDay ?? Number.NEGATIVE_INFINITY,
  )
  const oldestDay = newestDay - DAYS_KEPT + 1
  const batches = Map.groupBy(transactions, (transaction) => transaction.currency)
  const currencies = { ...state.currencies }
  for (const currency of new Set([...Object.keys(currencies), ...batches.keys()])) {
    const [known, batch] = [ownProperty(currencies, currency), batches.get(currency) ?? []]
    currencies[currency] = withTransactions(known ?? NO_TRANSACTIONS, batch, oldestDay)
  }
  return { newestDay, currencies }
}

const NO_TRANSACTIONS: CurrencyCashflow = {
  firstAt: '9999',
  lastAt: '',
  transactions: 0,
  lastBalance: null,
  days: [],
  streams: [],
}

/** The window only moves forward, so a day that is dropped from it can never be needed again. */
function withTransactions(
  known: CurrencyCashflow,
  batch: readonly TransactionFact[],
  oldestDay: number,
): CurrencyCashflow {
  const isUnchanged = batch.length === 0 && (known.days.length === 0 || (known.days[0]![0] as number) >= oldestDay)
  if (isUnchanged) return known
  const buckets = new Map(known.days.map((packed) => [packed[0] as number, unpackDay(packed)]))
  const instants = batch.map(({ occurredAt }) => occurredAt)
  let { lastBalance } = known
  for (const transaction of batch) {
    const day = dayOf(transaction.occurredAt)
    const bucket = buckets.get(day) ?? newDay(day)
    buckets.set(day, bucket)
    addToDay(bucket, transaction)
    lastBalance = laterBalance(lastBalance, transaction)
  }
  const days = [...buckets.values()].filter(({ day }) => day >= oldestDay).sort((a, b) => a.day - b.day)
  const { streams } = analyse(days)
  return {
    firstAt: [known.firstAt, ...instants].sort()[0]!,
    lastAt: [known.lastAt, ...instants].sort().at(-1)!,
    transactions: known.transactions + batch.length,
    lastBalance,
    days: days.map(packDay),
    streams,
  }
}

/** Finds what no single day shows, and notes on each day what belongs to it. */
function analyse(days: readonly DayBucket[]): { streams: IncomeStream[] } {
  const circular = circularFlows(days)
  const broken = brokenBalances(days)
  for (const [position, bucket] of days.entries()) {
    const { day, credits, debits } = bucket
    const amounts = credits.map(([amount]) => amount)
    bucket.circularIn = sumUnits(amounts.filter((_, index) => circular.credits.has(placeOf({ day, index }))))
    bucket.circularOut = sumUnits(debits.filter((_, index) => circular.debits.has(placeOf({ day, index }))))
    bucket.broken = broken[position]!
  }
  return { streams: incomeStreams(days, circular) }
}

function laterBalance(known: LastBalance | null, transaction: TransactionFact): LastBalance | null {
  const { occurredAt: at, externalId: id, balanceAfter } = transaction
  if (balanceAfter === undefined) return known
  const isLater = known === null || at > known.at || (at === known.at && id > known.id)
  return isLater ? { at, id, units: unitsOf(moneyOf(balanceAfter)) } : known
}
