import { dayOf } from '../../graph/decay.ts'
import { UNNAMED } from './accounts/account-terms.ts'
import type { StatementBalanceFact } from './accounts/statement-balances.ts'
import { type AccountCashflow, type CashflowState, DAYS_KEPT } from './cashflow-state.ts'
import { laterBalance, OpenCashflow } from './open-cashflow.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** A recorded transaction, and what stands in its place from now on; null if it is voided. */
export interface TransactionChange {
  before: TransactionFact
  after: TransactionFact | null
}

/** What has to be read so that a cash flow can be corrected. */
export interface CorrectionPlan {
  /** The newest day after the correction; null if nothing is left. */
  newestDay: number | null
  /** The days whose recorded transactions are needed. */
  days: readonly number[]
  /** Those of them that come back into the window, because it moves back. */
  uncovered: readonly number[]
}

/**
 * Plans a correction. Of a cash flow whose kept days are all emptied, the state does not say which day is the newest then:
 * undefined, until the caller has found it among all that is recorded.
 */
export function planCorrection(
  state: CashflowState,
  changes: readonly TransactionChange[],
  newestRecorded?: number | null,
): CorrectionPlan | undefined {
  const newestDay = newestAfter(state, changes) ?? newestRecorded
  if (newestDay === undefined) return undefined
  if (newestDay === null) return { newestDay, days: [], uncovered: [] }
  const oldestDay = newestDay - DAYS_KEPT + 1
  const uncovered = range(oldestDay, Math.min(oldestKept(state) - 1, newestDay))
  const days = new Set([...touchedDays(changes), ...lastBalanceDays(state, changes), ...uncovered])
  return { newestDay, days: [...days].filter((day) => day >= oldestDay), uncovered }
}

/** What is recorded on the days of a plan, before the correction. */
export interface RecordedDays {
  transactions: readonly TransactionFact[]
  /** The statement balances of the days that come back into the window. */
  balances: readonly StatementBalanceFact[]
}

/** Corrects a cash flow: derives the touched days again from what is recorded on them, and leaves the others as they are. */
export function correctCashflow(
  state: CashflowState,
  changes: readonly TransactionChange[],
  { plan, recorded }: { plan: CorrectionPlan; recorded: RecordedDays },
): CashflowState {
  const open = new OpenCashflow(state)
  const touched = new Set<string>()
  for (const { before, after } of changes) {
    for (const [transaction, count] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (transaction === null) continue
      const account = accountOf(open, transaction)
      account.transactions += count
      account.days.delete(dayOf(transaction.occurredAt))
      if (account.lastBalance && isOnDayOf(transaction, account.lastBalance.at)) account.lastBalance = null
      touched.add(placeOf(transaction))
    }
  }
  const uncovered = new Set(plan.uncovered)
  for (const transaction of corrected(recorded.transactions, changes)) {
    if (touched.has(placeOf(transaction)) || uncovered.has(dayOf(transaction.occurredAt))) {
      open.addToItsDay(transaction)
    } else {
      const account = accountOf(open, transaction)
      account.lastBalance = laterBalance(account.lastBalance, transaction)
    }
  }
  for (const balance of recorded.balances) open.addStatement(balance)
  return open.close(plan.newestDay)
}

/** The recorded transactions after the changes. */
function corrected(recorded: readonly TransactionFact[], changes: readonly TransactionChange[]): TransactionFact[] {
  const changed = new Set(changes.map(({ before }) => nameOf(before)))
  const unchanged = recorded.filter((transaction) => !changed.has(nameOf(transaction)))
  return [...unchanged, ...changes.flatMap(({ after }) => after ?? [])]
}

/** The newest day with transactions or statement balances; undefined if it lies before those that are kept. */
function newestAfter(state: CashflowState, changes: readonly TransactionChange[]): number | undefined {
  const removed = new Map<string, number>()
  for (const { before } of changes) removed.set(placeOf(before), (removed.get(placeOf(before)) ?? 0) + 1)
  const days = changes.flatMap(({ after }) => (after ? [dayOf(after.occurredAt)] : []))
  for (const { currency, key, account } of accountsOf(state)) {
    const left = account.days.findLast(
      ([day, transactions]) => (transactions as number) > (removed.get(`${currency} ${key} ${day}`) ?? 0),
    )
    if (left) days.push(left[0] as number)
    days.push(...(account.statements ?? []).map(([day]) => day))
  }
  const newest = Math.max(...days)
  return newest >= oldestKept(state) ? newest : undefined
}

function oldestKept({ newestDay }: CashflowState): number {
  return (newestDay ?? 0) - DAYS_KEPT + 1
}

function touchedDays(changes: readonly TransactionChange[]): number[] {
  return changes.flatMap(({ before, after }) => [before, ...(after ? [after] : [])].map((one) => dayOf(one.occurredAt)))
}

/** If the last balance of an account may go, the newest of its other days with a balance may have the next. */
function lastBalanceDays(state: CashflowState, changes: readonly TransactionChange[]): number[] {
  const touched = new Set(changes.map(({ before }) => placeOf(before)))
  return accountsOf(state).flatMap(({ currency, key, account: { days, lastBalance } }) => {
    if (lastBalance === null || !touched.has(`${currency} ${key} ${dayOf(lastBalance.at)}`)) return []
    const next = days.findLast(
      ([day, , , , , balances = 0]) => balances !== 0 && !touched.has(`${currency} ${key} ${day}`),
    )
    return next === undefined ? [] : [next[0] as number]
  })
}

function accountsOf({ currencies }: CashflowState): { currency: string; key: string; account: AccountCashflow }[] {
  return Object.entries(currencies).flatMap(([currency, { accounts }]) =>
    Object.entries(accounts).map(([key, account]) => ({ currency, key, account })),
  )
}

function accountOf(open: OpenCashflow, { currency, account = UNNAMED }: TransactionFact) {
  return open.account(currency, account)
}

function isOnDayOf({ occurredAt }: TransactionFact, instant: string): boolean {
  return dayOf(occurredAt) === dayOf(instant)
}

/** A text for the account, the currency and the day of a transaction. */
function placeOf({ currency, account = UNNAMED, occurredAt }: TransactionFact): string {
  return `${currency} ${account} ${dayOf(occurredAt)}`
}

function nameOf({ account = UNNAMED, externalId }: TransactionFact): string {
  return `${account} ${externalId}`
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
}
