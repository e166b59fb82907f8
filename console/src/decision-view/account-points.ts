import { writeUtcDay } from '../components/utc-day.ts'
import type { ViewData } from './view-data.ts'

/** The days of an account before a decision. */
export type Account = NonNullable<ViewData['account']>

const MONTH_DAYS = 30
const DAY_MS = 86_400_000

/** The longest window of a fact, in days. */
export function longestOf(windows: Account['windows']): number {
  return Math.max(...windows.map(({ days }) => days))
}

/** Months of 30 days, counted back from the decision as the facts count them; the first one may be shorter. */
export function monthsOf({ days, to, windows }: Account) {
  const end = Date.parse(to)
  const sums = Array.from({ length: Math.ceil(longestOf(windows) / MONTH_DAYS) }, () => ({ income: 0, spending: 0 }))
  for (const { day, income, spending } of days) {
    const sum = sums[Math.floor((end - Date.parse(day)) / DAY_MS / MONTH_DAYS)]
    if (!sum) continue
    sum.income += income
    sum.spending += spending
  }
  return sums
    .map((values, number) => {
      const last = new Date(end - number * MONTH_DAYS * DAY_MS).toISOString()
      return { key: last, label: writeUtcDay(last), title: `${MONTH_DAYS} days to ${writeUtcDay(last)}`, values }
    })
    .reverse()
}

/** The lowest balance of each day; a balance stays until the next one is reported. */
export function balancesOf({ days, to, windows }: Account) {
  const known = new Map(days.map(({ day, lowest_balance }) => [day, lowest_balance]))
  const end = Date.parse(to)
  const length = longestOf(windows)
  let last: number | null = null
  return Array.from({ length }, (_, index) => {
    const day = new Date(end - (length - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    last = known.get(day) ?? last
    const label = writeUtcDay(day)
    return { key: day, label, title: label, values: { balance: last } }
  })
}
