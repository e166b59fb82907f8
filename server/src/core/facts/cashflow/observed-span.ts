import type { CombinedAccounts } from './accounts/combine-accounts.ts'
import type { DayFigures } from './day-figures.ts'
import { spendingDays } from './spending-days.ts'

/** The first and the last day on which an account was observed, both included. */
export interface ObservedSpan {
  first: number
  last: number
}

/** The days of the accounts in one currency over the last year, and when they were observed. */
export interface ObservedYear {
  year: CombinedAccounts
  span: ObservedSpan | undefined
}

// Debits on three days over eight weeks show that an account is in use.
const DEBIT_DAYS_MIN = 3
const DEBIT_SPAN_MIN = 56

/**
 * When the account was observed: from the first to the last day of spending, because an account in use always has some.
 *
 * A credit outside that span shows that money came in, not that nothing else happened around it. An account with hardly
 * any debits is not in regular use; then all its transactions count. A returned payment proves as much as a debit.
 */
export function observedSpan(days: readonly DayFigures[]): ObservedSpan | undefined {
  const returns = days.filter(({ returned }) => returned > 0)
  const bySpending = spanOfUse(spendingDays(days), returns)
  if (bySpending) return bySpending
  const byDebits = spanOfUse(
    days.filter(({ debits }) => debits > 0),
    returns,
  )
  if (byDebits) return byDebits
  return days.length === 0 ? undefined : { first: days[0]!.day, last: days.at(-1)!.day }
}

/** The span from the first to the last of these days, if they show that the account is in use. */
function spanOfUse(...lists: readonly (readonly DayFigures[])[]): ObservedSpan | undefined {
  const used = lists.filter(({ length }) => length > 0)
  const first = Math.min(...used.map((days) => days[0]!.day))
  const last = Math.max(...used.map((days) => days.at(-1)!.day))
  const count = used.length === 1 ? used[0]!.length : new Set(used.flat()).size
  return count >= DEBIT_DAYS_MIN && last - first >= DEBIT_SPAN_MIN ? { first, last } : undefined
}
