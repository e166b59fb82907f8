import { combineAccounts } from '../../core/facts/cashflow/accounts/combine-accounts.ts'
import type { CashflowState, CurrencyCashflow } from '../../core/facts/cashflow/cashflow-state.ts'
import type { DayFigures } from '../../core/facts/cashflow/day-figures.ts'

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
  last_day: string | null
  other_currencies: string[]
  months: MonthlyCashflow[]
}

const DAY_MS = 86_400_000
const MONTHS_SHOWN = 13
const UNITS_PER_MAJOR = 10_000
const ALL_DAYS = { after: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }

/** Adds the days of an entity's state up by month; null if it has no transactions. */
export function describeCashflow({ accounts: terms, currencies }: CashflowState): Cashflow | null {
  const [main, ...others] = Object.entries(currencies)
    .map(([currency, flow]) => ({ currency, flow, transactions: countIn(flow) }))
    .filter(({ transactions }) => transactions > 0)
    .sort((a, b) => b.transactions - a.transactions)
  if (!main) return null
  const { days } = combineAccounts(main.flow, { terms, range: ALL_DAYS })
  const months = Array.from(
    Map.groupBy(days, ({ day }) => dateOf(day).slice(0, 'YYYY-MM'.length)),
    monthOf,
  )
  return {
    currency: main.currency,
    transactions: main.transactions,
    last_day: days.length > 0 ? dateOf(days.at(-1)!.day) : null,
    other_currencies: others.map(({ currency }) => currency),
    months: months.slice(-MONTHS_SHOWN),
  }
}

function countIn({ accounts }: CurrencyCashflow): number {
  return Object.values(accounts).reduce((sum, { transactions }) => sum + transactions, 0)
}

function monthOf([month, days]: [string, DayFigures[]]): MonthlyCashflow {
  const balances = days.flatMap((day) => (day.balances > 0 ? day.lowestBalance : []))
  const sum = (of: (day: DayFigures) => number) => days.reduce((total, day) => total + of(day), 0) / UNITS_PER_MAJOR
  return {
    month,
    in: sum(({ income, circularIn }) => income + circularIn),
    out: sum(({ outflow, circularOut }) => outflow + circularOut),
    lowest_balance: balances.length === 0 ? null : Math.min(...balances) / UNITS_PER_MAJOR,
  }
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}
