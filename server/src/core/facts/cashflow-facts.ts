import { moneyNumber } from '../money.ts'
import { ageInDays } from './age-in-days.ts'
import { type CashflowState, type CurrencyCashflow, oldestMonthIndex, watchedSpan } from './cashflow-state.ts'
import { lowestMoney, meanMoney, medianMoney, ratioOf, variationOf } from './exact-ratio.ts'
import { type Fact, type FactSet, known, type MissingBecause, missing } from './facts.ts'
import { monthIndex, monthOf } from './month.ts'
import type { MonthBucket } from './month-bucket.ts'
import { ownProperty } from './own-property.ts'

const DAY_MS = 86_400_000

const YEAR_MONTHS = 12

// 180 days: long enough to see a habit, short enough to be about today.
const RECENT_MONTHS = 6

// Bills fall all over the month: one seen to within this of its end has shown most of what it had to show.
const MONTH_END_DAYS = 10

/** The cash-flow features in one currency, or why there are none. */
export function cashflowFacts(
  state: CashflowState,
  { currency, now }: { currency: string | undefined; now: string },
): FactSet | MissingBecause {
  const cashflow = ownProperty(state.currencies, currency ?? mainCurrency(state) ?? '')
  if (cashflow === undefined || watchedSpan(cashflow).firstAt > now) {
    return Object.values(state.currencies).some(({ firstAt }) => firstAt <= now) ? 'other_currency' : 'no_data'
  }
  const { lastAt } = watchedSpan(cashflow)
  const oldestKept = oldestMonthIndex(state.newestMonth ?? monthOf(lastAt))
  // Newer transactions in another currency have moved the window past this one.
  if (monthIndex(monthOf(lastAt)) < oldestKept)
    return monthIndex(monthOf(cashflow.lastAt)) < oldestKept ? 'other_currency' : 'no_data'
  const months = observedMonths(cashflow, { now, oldestKept })
  const age = ageInDays(lastAt, now)
  return { ...flowFacts(months, age), ...balanceFacts(months, age), ...lastBalanceFact(cashflow, age) }
}

/** The observed months: full ones for flows, and with the running month for balances. Newest last. */
interface ObservedMonths {
  full: (MonthBucket | undefined)[]
  withBalances: MonthBucket[]
}

/**
 * Observation ends with the span in which the account was watched: the silence after it is missing data, not months
 * without income. So the month of its end is full only if that lies near the month's, and the month of its start never is.
 * A month without transactions between two others is a month of zero.
 */
function observedMonths(
  cashflow: CurrencyCashflow,
  { now, oldestKept }: { now: string; oldestKept: number },
): ObservedMonths {
  const { firstAt, lastAt } = watchedSpan(cashflow)
  const running = Math.min(monthIndex(monthOf(now)), monthIndex(monthOf(lastAt)))
  const newestFull = Math.min(monthIndex(monthOf(now)) - 1, isNearMonthEnd(lastAt) ? running : running - 1)
  const oldestFull = Math.max(monthIndex(monthOf(firstAt)) + 1, newestFull - YEAR_MONTHS + 1, oldestKept)
  const buckets = new Map(Object.entries(cashflow.months).map(([month, bucket]) => [monthIndex(month), bucket]))
  const bucketsOf = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from + 1) }, (_, offset) => buckets.get(from + offset))
  return {
    full: bucketsOf(oldestFull, newestFull),
    withBalances: bucketsOf(running - RECENT_MONTHS, running).filter((bucket) => hasBalances(bucket)),
  }
}

function isNearMonthEnd(instant: string): boolean {
  const later = new Date(Date.parse(instant.slice(0, 10)) + (MONTH_END_DAYS + 1) * DAY_MS).toISOString()
  return monthOf(later) !== monthOf(instant)
}

function flowFacts({ full }: ObservedMonths, age: number): FactSet {
  const counts = { 'cashflow.months_observed': known(full.length, age) }
  if (full.length === 0) return { ...counts, ...flowsTooShort() }
  const recent = full.slice(-RECENT_MONTHS)
  const inflows = recent.map((month) => BigInt(month?.inflow ?? 0))
  const repaid = totalOf(recent, (month) => month.repaid)
  const squares = inflows.reduce((sum, inflow) => sum + inflow * inflow, 0n)
  const inflow = totalOf(recent, (month) => month.inflow)
  const outflow = totalOf(recent, (month) => month.outflow)
  return {
    ...counts,
    'cashflow.median_inflow': known(moneyNumber(medianMoney(inflows)), age),
    'cashflow.inflow_variation': known(variationOf({ count: recent.length, sum: inflow, squares }), age),
    'cashflow.lowest_inflow_to_outflow':
      outflow === 0n ? missing('no_data') : known(ratioOf(lowestMoney(inflows) * BigInt(recent.length), outflow), age),
    'cashflow.mean_spending': known(meanMoney(outflow - repaid, recent.length), age),
    'cashflow.mean_debt_service': known(meanMoney(repaid, recent.length), age),
    'cashflow.outflow_to_inflow': outflowToInflow(full, age),
  }
}

function outflowToInflow(full: ObservedMonths['full'], age: number): Fact {
  const outflow = totalOf(full, (month) => month.outflow)
  const inflow = totalOf(full, (month) => month.inflow)
  return outflow === 0n && inflow === 0n ? missing('no_data') : known(ratioOf(outflow, inflow), age)
}

function flowsTooShort(): FactSet {
  return {
    'cashflow.median_inflow': missing('too_short'),
    'cashflow.inflow_variation': missing('too_short'),
    'cashflow.lowest_inflow_to_outflow': missing('too_short'),
    'cashflow.mean_spending': missing('too_short'),
    'cashflow.mean_debt_service': missing('too_short'),
    'cashflow.outflow_to_inflow': missing('too_short'),
  }
}

function balanceFacts({ withBalances }: ObservedMonths, age: number): FactSet {
  const count = sumOf(withBalances, (month) => month.balances)
  if (count === 0) return noBalances()
  const sum = totalOf(withBalances, (month) => month.balanceSum)
  const squares = totalOf(withBalances, (month) => month.balanceSquares)
  const minima = withBalances.map((month) => BigInt(month.balanceMin ?? 0))
  const low = sumOf(withBalances, (month) => month.lowBalances)
  const debits = sumOf(withBalances, (month) => month.debitBalances)
  return {
    'cashflow.lowest_balance': known(moneyNumber(lowestMoney(minima)), age),
    'cashflow.average_balance': known(meanMoney(sum, count), age),
    'cashflow.balance_variation': known(variationOf({ count, sum, squares }), age),
    'cashflow.low_balance_share': debits === 0 ? missing('no_data') : known(ratioOf(BigInt(low), BigInt(debits)), age),
  }
}

function noBalances(): FactSet {
  return {
    'cashflow.lowest_balance': missing('no_data'),
    'cashflow.average_balance': missing('no_data'),
    'cashflow.balance_variation': missing('no_data'),
    'cashflow.low_balance_share': missing('no_data'),
  }
}

function lastBalanceFact({ lastBalance }: CurrencyCashflow, age: number): FactSet {
  const fact = lastBalance === null ? missing('no_data') : known(moneyNumber(BigInt(lastBalance.units)), age)
  return { 'cashflow.last_balance': fact }
}

/** Without a currency in the request, the one with the most transactions speaks; ties by name. */
function mainCurrency({ currencies }: CashflowState): string | undefined {
  const byUse = Object.entries(currencies).sort(
    ([nameA, a], [nameB, b]) => b.transactions - a.transactions || (nameA < nameB ? -1 : 1),
  )
  return byUse[0]?.[0]
}

function hasBalances(bucket: MonthBucket | undefined): bucket is MonthBucket {
  return bucket !== undefined && bucket.balances > 0
}

function sumOf(months: readonly MonthBucket[], countOf: (month: MonthBucket) => number): number {
  return months.reduce((sum, month) => sum + countOf(month), 0)
}

function totalOf(months: readonly (MonthBucket | undefined)[], unitsOf: (month: MonthBucket) => string): bigint {
  return months.reduce((sum, month) => (month === undefined ? sum : sum + BigInt(unitsOf(month))), 0n)
}
