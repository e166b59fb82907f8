import { dayOf } from '../../graph/decay.ts'
import { moneyOf } from '../../money.ts'
import { ownProperty } from '../../stored-json.ts'
import { unitsOf } from '../units.ts'
import { type AccountsByKey, type AccountTerms, UNNAMED } from './accounts/account-terms.ts'
import { addStatement, type StatementBalanceFact, type StatementDay } from './accounts/statement-balances.ts'
import { addToDay } from './add-to-day.ts'
import { analyseAccounts } from './analyse-accounts.ts'
import {
  type AccountCashflow,
  type CashflowState,
  type CurrencyCashflow,
  DAYS_KEPT,
  type LastBalance,
} from './cashflow-state.ts'
import { type DayBucket, newDay, packDay, unpackDay } from './day-bucket.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** One account in one currency while it is changed. */
export interface OpenAccount {
  transactions: number
  lastBalance: LastBalance | null
  days: Map<number, DayBucket>
  statements: StatementDay[]
}

type OpenAccounts = Map<string, OpenAccount>

/**
 * A cash flow while it is changed: the days of a currency are unpacked when the first of its accounts is changed, and analysed
 * again and packed when it is closed.
 */
export class OpenCashflow {
  readonly #state: CashflowState
  readonly #open = new Map<string, OpenAccounts>()
  #terms: AccountsByKey

  constructor(state: CashflowState) {
    this.#state = state
    this.#terms = state.accounts
  }

  /** Adds what a caller says of accounts to what is known of them. */
  addTerms(accounts: AccountsByKey): void {
    for (const [key, said] of Object.entries(accounts)) {
      const known = ownProperty(this.#terms, key)
      const terms = { ...known, ...said }
      if (known && isSame(known, terms)) continue
      this.#terms = { ...this.#terms, [key]: terms }
      for (const [currency, { accounts: inCurrency }] of Object.entries(this.#state.currencies))
        if (Object.hasOwn(inCurrency, key)) this.#accountsIn(currency)
    }
  }

  /** The account of a currency that is to be changed. */
  account(currency: string, key: string): OpenAccount {
    const accounts = this.#accountsIn(currency)
    const account = accounts.get(key) ?? { transactions: 0, lastBalance: null, days: new Map(), statements: [] }
    accounts.set(key, account)
    return account
  }

  /** Adds a new transaction. */
  add(transaction: TransactionFact): void {
    this.account(transaction.currency, transaction.account ?? UNNAMED).transactions += 1
    this.addToItsDay(transaction)
  }

  /** Adds a transaction, which is counted already, to its day. */
  addToItsDay(transaction: TransactionFact): void {
    const account = this.account(transaction.currency, transaction.account ?? UNNAMED)
    const day = dayOf(transaction.occurredAt)
    const bucket = account.days.get(day) ?? newDay(day)
    account.days.set(day, bucket)
    addToDay(bucket, transaction)
    account.lastBalance = laterBalance(account.lastBalance, transaction)
  }

  addStatement(balance: StatementBalanceFact): void {
    const account = this.account(balance.currency, balance.account ?? UNNAMED)
    account.statements = addStatement(account.statements, balance)
  }

  /** The changed cash flow over the days up to the newest. */
  close(newestDay: number | null): CashflowState {
    const oldestDay = (newestDay ?? 0) - DAYS_KEPT + 1
    const currencies: Record<string, CurrencyCashflow> = {}
    for (const currency of new Set([...Object.keys(this.#state.currencies), ...this.#open.keys()])) {
      const known = ownProperty(this.#state.currencies, currency)
      const isUnchanged = !this.#open.has(currency) && !Object.values(known!.accounts).some(beginsBefore(oldestDay))
      const flow = isUnchanged ? known! : this.#closeCurrency(currency, oldestDay)
      if (Object.keys(flow.accounts).length > 0) currencies[currency] = flow
    }
    return { newestDay, accounts: this.#terms, currencies }
  }

  #accountsIn(currency: string): OpenAccounts {
    const open = this.#open.get(currency)
    if (open) return open
    const known = ownProperty(this.#state.currencies, currency)?.accounts ?? {}
    const accounts = new Map(Object.entries(known).map(([key, account]) => [key, unpackAccount(account)]))
    this.#open.set(currency, accounts)
    return accounts
  }

  /** Accounts in the order of their keys, so that the analysis does not depend on which came first. */
  #closeCurrency(currency: string, oldestDay: number): CurrencyCashflow {
    const open = [...this.#accountsIn(currency)].sort(([a], [b]) => (a < b ? -1 : 1))
    const kept = open.map(([key, account]) => {
      const days = [...account.days.values()].filter(({ day }) => day >= oldestDay).sort((a, b) => a.day - b.day)
      return { key, account, terms: ownProperty(this.#terms, key) ?? NO_TERMS, days }
    })
    const streams = analyseAccounts(kept)
    const accounts: Record<string, AccountCashflow> = {}
    for (const { key, account, days } of kept) {
      const statements = account.statements.filter(([day]) => day >= oldestDay)
      if (account.transactions > 0 || statements.length > 0)
        accounts[key] = packAccount({ ...account, statements }, days, oldestDay)
    }
    return { accounts, streams }
  }
}

const NO_TERMS: AccountTerms = {}

function isSame(one: AccountTerms, other: AccountTerms): boolean {
  return one.kind === other.kind && one.holders === other.holders
}

function beginsBefore(day: number): (account: AccountCashflow) => boolean {
  return ({ days, statements = [] }) => [days[0], statements[0]].some((first) => first && (first[0] as number) < day)
}

function unpackAccount({ transactions, lastBalance, days, statements = [] }: AccountCashflow): OpenAccount {
  return {
    transactions,
    lastBalance,
    days: new Map(days.map((packed) => [packed[0] as number, unpackDay(packed)])),
    statements,
  }
}

function packAccount(
  { transactions, lastBalance, statements }: OpenAccount,
  days: readonly DayBucket[],
  oldestDay: number,
): AccountCashflow {
  return {
    transactions,
    lastBalance: lastBalance && dayOf(lastBalance.at) >= oldestDay ? lastBalance : null,
    days: days.map(packDay),
    ...(statements.length > 0 && { statements }),
  }
}

/** The later of a balance and the one that a transaction reports. */
export function laterBalance(known: LastBalance | null, transaction: TransactionFact): LastBalance | null {
  const { occurredAt: at, externalId: id, balanceAfter } = transaction
  if (balanceAfter === undefined) return known
  const isLater = known === null || at > known.at || (at === known.at && id > known.id)
  return isLater ? { at, id, units: unitsOf(moneyOf(balanceAfter)) } : known
}
