import type { Units } from '../units.ts'
import type { AccountsByKey } from './accounts/account-terms.ts'
import type { StatementDay } from './accounts/statement-balances.ts'
import type { PackedDay } from './day-bucket.ts'
import type { IncomeStream } from './income-streams.ts'

/** The balance after the latest transaction; of several at one instant, the highest external id is the latest. */
export interface LastBalance {
  at: string
  id: string
  units: Units
}

/** One account in one currency, by day. */
export interface AccountCashflow {
  transactions: number
  /** Of the days that are kept. */
  lastBalance: LastBalance | null
  /** Oldest first. */
  days: PackedDay[]
  /** Oldest first; absent if there are none. */
  statements?: StatementDay[]
}

/** The cash flow in one currency. */
export interface CurrencyCashflow {
  /** By the key of the account. */
  accounts: Record<string, AccountCashflow>
  /** Income that recurs, as found from the days of all accounts. */
  streams: IncomeStream[]
}

/**
 * The cash flow of an entity by currency and account, over the newest days that have transactions or statement balances in any
 * of them.
 */
export interface CashflowState {
  newestDay: number | null
  accounts: AccountsByKey
  currencies: Record<string, CurrencyCashflow>
}

/** A year, and a month before it so that a cadence is known at its start. The decision is never before the newest day. */
export const DAYS_KEPT = 400

/** How many days an entity can have, counted for each account and currency: eight of these used on every day. */
export const ACCOUNT_DAYS_MAX = 3_200

/** How many days the state keeps, counted for each account and currency. */
export function countAccountDays({ currencies }: CashflowState): number {
  let count = 0
  for (const { accounts } of Object.values(currencies)) {
    for (const { days, statements = [] } of Object.values(accounts))
      count += new Set([...days, ...statements].map(([day]) => day)).size
  }
  return count
}
