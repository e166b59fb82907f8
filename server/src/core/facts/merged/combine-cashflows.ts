import { ACCOUNT_KINDS } from '../../vocabularies.ts'
import type { AccountTerms } from '../cashflow/accounts/account-terms.ts'
import type { StatementDay } from '../cashflow/accounts/statement-balances.ts'
import type { AccountCashflow, CashflowState, LastBalance } from '../cashflow/cashflow-state.ts'
import { unpackDay } from '../cashflow/day-bucket.ts'
import { OpenCashflow } from '../cashflow/open-cashflow.ts'
import { compareUnits, type Units } from '../units.ts'
import { combineDays } from './combine-days.ts'
import { findAccounts, namesIn } from './find-accounts.ts'

/**
 * Combines cash flows by account and day. Own transfers, income and money that goes around are then found in all accounts
 * together.
 */
export function combineCashflows(states: readonly CashflowState[]): CashflowState {
  const newestDays = states.flatMap(({ newestDay }) => newestDay ?? [])
  const open = new OpenCashflow({ newestDay: null, accounts: {}, currencies: {} })
  for (const key of namesIn(states.map(({ accounts }) => accounts)))
    open.addTerms({ [key]: combineTerms(states.flatMap(({ accounts }) => own(accounts, key))) })
  for (const currency of namesIn(states.map(({ currencies }) => currencies))) {
    const flows = states.flatMap(({ currencies }) => own(currencies, currency))
    for (const { key, reports } of findAccounts(flows.map(({ accounts }) => accounts))) {
      const account = open.account(currency, key)
      account.transactions = Math.max(...reports.map(({ transactions }) => transactions))
      account.lastBalance = reports.map(({ lastBalance }) => lastBalance).reduce(laterOf)
      account.statements = combineStatements(reports)
      account.days = combineDays(reports.map(({ days }) => days.map(unpackDay)))
    }
  }
  return open.close(newestDays.length === 0 ? null : Math.max(...newestDays))
}

/** The value of a record in a list; none if it has no such name. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value[] {
  return Object.hasOwn(record, name) ? [record[name]!] : []
}

/** Where two entities say something else of an account, what makes it count for less: a debt, and more holders. */
function combineTerms(terms: readonly AccountTerms[]): AccountTerms {
  const kind = ACCOUNT_KINDS.findLast((one) => terms.some((said) => said.kind === one))
  const holders = terms.flatMap((said) => said.holders ?? [])
  return { ...(kind && { kind }), ...(holders.length > 0 && { holders: Math.max(...holders) }) }
}

function laterOf(one: LastBalance | null, other: LastBalance | null): LastBalance | null {
  if (one === null || other === null) return one ?? other
  if (one.at !== other.at) return one.at > other.at ? one : other
  if (one.id !== other.id) return one.id > other.id ? one : other
  return compareUnits(one.units, other.units) <= 0 ? one : other
}

/** Of two balances for one end of a day the lower counts. */
function combineStatements(reports: readonly AccountCashflow[]): StatementDay[] {
  const byDay = new Map<number, StatementDay>()
  for (const { statements = [] } of reports) {
    for (const [day, opening, closing] of statements) {
      const [, knownOpening, knownClosing] = byDay.get(day) ?? [day, null, null]
      byDay.set(day, [day, lowerOf(knownOpening, opening), lowerOf(knownClosing, closing)])
    }
  }
  return [...byDay.values()].sort(([a], [b]) => a - b)
}

function lowerOf(one: Units | null, other: Units | null): Units | null {
  if (one === null || other === null) return one ?? other
  return compareUnits(one, other) <= 0 ? one : other
}
