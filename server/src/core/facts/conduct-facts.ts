import { ageInDays } from './age-in-days.ts'
import { type CashflowState, observedSpan } from './cashflow-state.ts'
import { type Fact, known, missing } from './facts.ts'
import { type Month, monthIndex, monthOf } from './month.ts'
import type { MonthBucket } from './month-bucket.ts'

const YEAR_MONTHS = 12

/** The conduct of the accounts in all currencies: an overdraft counts whatever the currency of the request is. */
export function conductFacts(
  { currencies }: CashflowState,
  now: string,
): Record<'negativeDays' | 'returnedPayments', Fact> {
  const cashflows = Object.values(currencies).filter((cashflow) => observedSpan(cashflow).firstAt <= now)
  const lastAt = cashflows
    .map((cashflow) => observedSpan(cashflow).lastAt)
    .sort()
    .at(-1)
  if (lastAt === undefined) return { negativeDays: missing('no_data'), returnedPayments: missing('no_data') }
  const newest = Math.min(monthIndex(monthOf(now)), monthIndex(monthOf(lastAt)))
  const isInYear = (index: number) => index <= newest && index >= newest - YEAR_MONTHS
  const buckets = cashflows
    .flatMap(({ months }) => Object.entries(months))
    .filter(([month]) => isInYear(monthIndex(month)))
  const age = ageInDays(lastAt, now)
  const reportsBalances = buckets.some(([, { balances }]) => balances > 0)
  const returned = buckets.reduce((sum, [, month]) => sum + month.returned, 0)
  return {
    negativeDays: reportsBalances ? known(negativeDays(buckets), age) : missing('no_data'),
    returnedPayments: known(returned, age),
  }
}

/** Counts the days below zero; a day below zero in two currencies is one day. */
function negativeDays(buckets: readonly [Month, MonthBucket][]): number {
  const daysOf = new Map<Month, number>()
  for (const [month, { negativeDays: ofDebits, negativeCreditDays, debitBalances }] of buckets) {
    const days = debitBalances > 0 ? ofDebits : negativeCreditDays
    daysOf.set(month, (daysOf.get(month) ?? 0) | days)
  }
  let count = 0
  for (const days of daysOf.values()) count += bitCount(days)
  return count
}

function bitCount(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1
  return count
}
