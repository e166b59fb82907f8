import { combineAccounts } from '../../core/facts/cashflow/accounts/combine-accounts.ts'
import { withheldBecause } from '../../core/facts/consent-facts.ts'
import type { EntityState } from '../../core/facts/entity-state.ts'
import { FACT_WINDOWS, YEAR_DAYS } from '../../core/facts/fact-windows.ts'
import { dayOf } from '../../core/graph/decay.ts'

/** One day of the accounts in one currency: income, spending, and the lowest balance that is known, in major units. */
export interface AccountDay {
  day: string
  income: number
  spending: number
  lowest_balance: number | null
}

/** The days of the accounts in the windows that the facts of a decision use. */
export interface AccountDays {
  currency: string
  /** The day of the decision, where all windows end. */
  to: string
  days: AccountDay[]
  /** The windows of the facts, the longest first. */
  windows: typeof FACT_WINDOWS
}

const DAY_MS = 86_400_000
const UNITS_PER_MAJOR = 10_000

/**
 * The days before a decision, as the entity's state has them now: a decision keeps the facts that were computed from the
 * days and not the days themselves. Null without transactions in the currency, or if consent to look at them has ended.
 */
export function accountDays(
  state: EntityState,
  { currency, decidedAt, now }: { currency: string; decidedAt: string; now: string },
): AccountDays | null {
  if (withheldBecause(state.consents, 'transactions', now) !== undefined) return null
  const flow = Object.hasOwn(state.cashflow.currencies, currency) ? state.cashflow.currencies[currency] : undefined
  if (!flow) return null
  const last = dayOf(decidedAt)
  const range = { after: last - YEAR_DAYS, until: last }
  const days = combineAccounts(flow, { terms: state.cashflow.accounts, range }).days.map((figures) => ({
    day: dateOf(figures.day),
    income: figures.income / UNITS_PER_MAJOR,
    spending: figures.outflow / UNITS_PER_MAJOR,
    lowest_balance: figures.balances > 0 ? figures.lowestBalance / UNITS_PER_MAJOR : null,
  }))
  return days.length > 0 ? { currency, to: dateOf(last), days, windows: FACT_WINDOWS } : null
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}
