import { moneyNumber } from '../money.ts'
import { ageInDays } from './age-in-days.ts'
import { type CashflowState, type CurrencyCashflow, observedSpan, oldestMonthIndex } from './cashflow-state.ts'
import { conductFacts } from './conduct-facts.ts'
import { lowestMoney, meanMoney, medianMoney, ratioOf, variationOf } from './exact-ratio.ts'
import { type Fact, type FactSet, known, type MissingBecause, missing } from './facts.ts'
import { monthIndex, monthOf } from './month.ts'
import type { MonthBucket } from './month-bucket.ts'
import { ownProperty } from './own-property.ts'

const DAY_MS = 86_400_000

const YEAR_MONTHS = 12

// Six months: long enough to show a pattern, short enough to describe the present.
const RECENT_MONTHS = 6

// Bills are spread over the month: a month observed up to this many days before its end shows most of its transactions.
const MONTH_END_DAYS = 10

/** The cash-flow features in the order of their names: flows and balances in one currency, conduct in all. */
export function cashflowFacts(
  state: CashflowState,
  { currency, now }: { currency: string | undefined; now: string },
): FactSet {
  const { negativeDays, returnedPayments } = conductFacts(state, now)
  const { flows, balances, lastBalance } = currencyFacts(state, { currency, now })
  return {
    'cashflow.average_balance': balances.average,
    'cashflow.balance_variation': balances.variation,
    'cashflow.inflow_variation': flows.inflowVariation,
    'cashflow.last_balance': lastBalance,
    'cashflow.low_balance_share': balances.lowShare,
    'cashflow.lowest_balance': balances.lowest,
    'cashflow.lowest_inflow_to_outflow': flows.lowestInflowToOutflow,
    'cashflow.mean_debt_service': flows.meanDebtService,
    'cashflow.mean_spending': flows.meanSpending,
    'cashflow.median_inflow': flows.medianInflow,
    'cashflow.months_observed': flows.monthsObserved,
    'cashflow.negative_days': negativeDays,
    'cashflow.outflow_to_inflow': flows.outflowToInflow,
    'cashflow.returned_payments': returnedPayments,
  }
}

function currencyFacts(
  state: CashflowState,
  { currency, now }: { currency: string | undefined; now: string },
): { flows: FlowFacts; balances: BalanceFacts; lastBalance: Fact } {
  const cashflow = ownProperty(state.currencies, currency ?? mainCurrency(state) ?? '')
  const span = cashflow && observedSpan(cashflow)
  if (cashflow === undefined || span === undefined || span.firstAt > now) {
    return allMissing(
      Object.values(state.currencies).some(({ firstAt }) => firstAt <= now) ? 'other_currency' : 'no_data',
    )
  }
  const oldestKept = oldestMonthIndex(state.newestMonth ?? monthOf(span.lastAt))
  // Newer transactions in another currency moved the window past the observed span of this one.
  if (monthIndex(monthOf(span.lastAt)) < oldestKept)
    return allMissing(monthIndex(monthOf(cashflow.lastAt)) < oldestKept ? 'other_currency' : 'no_data')
  const months = observedMonths(cashflow, { span, now, oldestKept })
  const age = ageInDays(span.lastAt, now)
  return {
    flows: flowFacts(months, age),
    balances: balanceFacts(months, age),
    lastBalance: lastBalanceFact(cashflow, age),
  }
}

function allMissing(because: MissingBecause) {
  return { flows: flowsMissing(because), balances: balancesMissing(because), lastBalance: missing(because) }
}

/** The observed months, oldest first: the full months for flows, and those with balances up to the current month. */
interface ObservedMonths {
  full: (MonthBucket | undefined)[]
  withBalances: MonthBucket[]
}

/**
 * Months after the observed span are missing data, not months without income. So the month in which the span ends is
 * full only if the span ends near the end of that month, and the month in which it starts is never full. A month
 * without transactions between two observed months counts as zero.
 */
function observedMonths(
  cashflow: CurrencyCashflow,
  {
    span: { firstAt, lastAt },
    now,
    oldestKept,
  }: { span: ReturnType<typeof observedSpan>; now: string; oldestKept: number },
): ObservedMonths {
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

type FlowFacts = Record<
  | 'monthsObserved'
  | 'medianInflow'
  | 'inflowVariation'
  | 'lowestInflowToOutflow'
  | 'meanSpending'
  | 'meanDebtService'
  | 'outflowToInflow',
  Fact
>

function flowFacts({ full }: ObservedMonths, age: number): FlowFacts {
  const monthsObserved = known(full.length, age)
  if (full.length === 0) return { ...flowsMissing('too_short'), monthsObserved }
  const recent = full.slice(-RECENT_MONTHS)
  const inflows = recent.map((month) => BigInt(month?.inflow ?? 0))
  const repaid = totalOf(recent, (month) => month.repaid)
  const squares = inflows.reduce((sum, inflow) => sum + inflow * inflow, 0n)
  const inflow = inflows.reduce((sum, one) => sum + one, 0n)
  const outflow = totalOf(recent, (month) => month.outflow)
  return {
    monthsObserved,
    medianInflow: known(moneyNumber(medianMoney(inflows)), age),
    inflowVariation: known(variationOf({ count: recent.length, sum: inflow, squares }), age),
    lowestInflowToOutflow:
      outflow === 0n ? missing('no_data') : known(ratioOf(lowestMoney(inflows) * BigInt(recent.length), outflow), age),
    meanSpending: known(meanMoney(outflow - repaid, recent.length), age),
    meanDebtService: known(meanMoney(repaid, recent.length), age),
    outflowToInflow: outflowToInflow(full, age),
  }
}

function outflowToInflow(full: ObservedMonths['full'], age: number): Fact {
  const outflow = totalOf(full, (month) => month.outflow)
  const inflow = totalOf(full, (month) => month.inflow)
  return outflow === 0n && inflow === 0n ? missing('no_data') : known(ratioOf(outflow, inflow), age)
}

function flowsMissing(because: MissingBecause): FlowFacts {
  const fact = missing(because)
  return {
    monthsObserved: fact,
    medianInflow: fact,
    inflowVariation: fact,
    lowestInflowToOutflow: fact,
    meanSpending: fact,
    meanDebtService: fact,
    outflowToInflow: fact,
  }
}

type BalanceFacts = Record<'lowest' | 'average' | 'variation' | 'lowShare', Fact>

function balanceFacts({ withBalances }: ObservedMonths, age: number): BalanceFacts {
  const count = sumOf(withBalances, (month) => month.balances)
  if (count === 0) return balancesMissing('no_data')
  const sum = totalOf(withBalances, (month) => month.balanceSum)
  const squares = totalOf(withBalances, (month) => month.balanceSquares)
  const minima = withBalances.map((month) => BigInt(month.balanceMin ?? 0))
  const low = sumOf(withBalances, (month) => month.lowBalances)
  const debits = sumOf(withBalances, (month) => month.debitBalances)
  return {
    lowest: known(moneyNumber(lowestMoney(minima)), age),
    average: known(meanMoney(sum, count), age),
    variation: known(variationOf({ count, sum, squares }), age),
    lowShare: debits === 0 ? missing('no_data') : known(ratioOf(BigInt(low), BigInt(debits)), age),
  }
}

function balancesMissing(because: MissingBecause): BalanceFacts {
  const fact = missing(because)
  return { lowest: fact, average: fact, variation: fact, lowShare: fact }
}

function lastBalanceFact({ lastBalance }: CurrencyCashflow, age: number): Fact {
  return lastBalance === null ? missing('no_data') : known(moneyNumber(BigInt(lastBalance.units)), age)
}

/** The currency to use if the request names none: the one with the most transactions, ties by name. */
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
