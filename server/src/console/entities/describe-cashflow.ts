import type { CashflowState } from '../../core/facts/cashflow/cashflow-state.ts'
import { unpackDay } from '../../core/facts/cashflow/day-bucket.ts'
import { compareUnits, majorOf, sumUnits, type Units } from '../../core/facts/units.ts'

/** The cash flow of one calendar month. */
export interface MonthlyCashflow {
  /** Such as `2026-11`. */
  month: string
  in: number
  out: number
  lowest_balance: number | null
}

/** The cash flow of an entity in the currency with most transactions. */
export interface Cashflow {
  currency: string
  transactions: number
  last_at: string
  other_currencies: string[]
  months: MonthlyCashflow[]
}

const DAY_MS = 86_400_000
const MONTHS_SHOWN = 13

/** Adds the days of an entity's state up by month; null if it has no transactions. */
export function describeCashflow({ currencies }: CashflowState): Cashflow | null {
  const [main, ...others] = Object.entries(currencies).sort(([, a], [, b]) => b.transactions - a.transactions)
  if (!main) return null
  const [currency, { transactions, lastAt, days }] = main
  const byMonth = Map.groupBy(days.map(unpackDay), ({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 7))
  const months = [...byMonth].map(([month, ofMonth]) => {
    const sum = (amountsOf: (day: (typeof ofMonth)[number]) => Units[]) => majorOf(sumUnits(ofMonth.flatMap(amountsOf)))
    const [lowest] = ofMonth
      .filter(({ balances }) => balances > 0)
      .map(({ lowestBalance }) => lowestBalance)
      .sort(compareUnits)
    return {
      month,
      in: sum(({ credits, otherCredits }) => [...credits.map(([amount]) => amount), otherCredits]),
      out: sum(({ debits, otherDebits }) => [...debits, otherDebits]),
      lowest_balance: lowest === undefined ? null : majorOf(lowest),
    }
  })
  return {
    currency,
    transactions,
    last_at: lastAt,
    other_currencies: others.map(([name]) => name),
    months: months.sort((a, b) => (a.month < b.month ? -1 : 1)).slice(-MONTHS_SHOWN),
  }
}
