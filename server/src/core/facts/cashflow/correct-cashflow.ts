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

/** What is recorded on days of a plan, before the correction. */
export interface RecordedDays {
  transactions: readonly TransactionFact[]
  /** The statement balances of the days that come back into the window. */
  balances: readonly StatementBalanceFact[]
}

/**
 * A correction of a cash flow: derives the touched days again from what is recorded on them, and leaves the others as they are.
 * What is recorded is added in parts, in any order.
 */
export class CashflowCorrection {
  readonly #open: OpenCashflow
  readonly #plan: CorrectionPlan
  readonly #after: readonly TransactionFact[]
  /** The names of the changed transactions. */
  readonly #changed: ReadonlySet<string>
  readonly #touched = new Set<string>()
  readonly #uncovered: ReadonlySet<number>

  constructor(state: CashflowState, changes: readonly TransactionChange[], plan: CorrectionPlan) {
    this.#open = new OpenCashflow(state)
    this.#plan = plan
    this.#after = changes.flatMap(({ after }) => after ?? [])
    this.#changed = new Set(changes.map(({ before }) => nameOf(before)))
    this.#uncovered = new Set(plan.uncovered)
    for (const { before } of changes) this.#empty(before, -1)
    for (const after of this.#after) this.#empty(after, 1)
  }

  /** Adds what is recorded on some days of the plan. */
  add({ transactions, balances }: RecordedDays): void {
    for (const transaction of transactions) if (!this.#changed.has(nameOf(transaction))) this.#addToItsDay(transaction)
    for (const balance of balances) this.#open.addStatement(balance)
  }

  /** The corrected cash flow, once all that is recorded was added. */
  close(): CashflowState {
    for (const transaction of this.#after) this.#addToItsDay(transaction)
    return this.#open.close(this.#plan.newestDay)
  }

  /** Empties the day of a change, to be derived again, and counts the transaction in or out. */
  #empty(transaction: TransactionFact, count: 1 | -1): void {
    const account = accountOf(this.#open, transaction)
    account.transactions += count
    account.days.delete(dayOf(transaction.occurredAt))
    if (account.lastBalance && isOnDayOf(transaction, account.lastBalance.at)) account.lastBalance = null
    this.#touched.add(placeOf(transaction))
  }

  #addToItsDay(transaction: TransactionFact): void {
    if (this.#touched.has(placeOf(transaction)) || this.#uncovered.has(dayOf(transaction.occurredAt))) {
      this.#open.addToItsDay(transaction)
    } else {
      const account = accountOf(this.#open, transaction)
      account.lastBalance = laterBalance(account.lastBalance, transaction)
    }
  }
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
