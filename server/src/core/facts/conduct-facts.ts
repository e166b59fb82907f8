import { ageInDays } from './age-in-days.ts'
import { type CashflowState, watchedSpan } from './cashflow-state.ts'
import { type FactSet, known, missing } from './facts.ts'
import { type Month, monthIndex, monthOf } from './month.ts'
import type { MonthBucket } from './month-bucket.ts'

const YEAR_MONTHS = 12

/**
 * How the accounts were conducted, in all currencies together: an overdraft in another currency is still an overdraft.
 * Nothing when there were no transactions yet.
 */
export function conductFacts({ currencies }: CashflowState, now: string): FactSet | undefined {
  const cashflows = Object.values(currencies).filter((cashflow) => watchedSpan(cashflow).firstAt <= now)
  const lastAt = cashflows
    .map((cashflow) => watchedSpan(cashflow).lastAt)
    .sort()
    .at(-1)
  if (lastAt === undefined) return undefined
  const newest = Math.min(monthIndex(monthOf(now)), monthIndex(monthOf(lastAt)))
  const buckets = cashflows
    .flatMap(({ months }) => Object.entries(months))
    .filter(([month]) => monthIndex(month) <= newest && monthIndex(month) >= newest - YEAR_MONTHS)
  const age = ageInDays(lastAt, now)
  const saysBalance = buckets.some(([, { balances }]) => balances > 0)
  const returned = buckets.reduce((sum, [, month]) => sum + month.returned, 0)
  return {
    'cashflow.negative_days': saysBalance ? known(negativeDays(buckets), age) : missing('no_data'),
    'cashflow.returned_payments': known(returned, age),
  }
}

/** A day below zero in two currencies is one day. */
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
