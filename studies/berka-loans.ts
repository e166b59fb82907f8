import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decide } from '../server/src/core/decide/decide.ts'
import type { Evaluation } from '../server/src/core/decide/evaluation.ts'
import { deriveFacts } from '../server/src/core/facts/derive-facts.ts'
import {
  applyConsent,
  applyIdentityLink,
  applyTransactions,
  type EntityState,
  emptyState,
  type TransactionFact,
} from '../server/src/core/facts/entity-state.ts'
import type { Facts } from '../server/src/core/facts/facts.ts'
import type { CompiledPolicy } from '../server/src/core/policy/compile/compiled-policy.ts'
import type { Scored } from './discrimination.ts'

const DAY_MS = 86_400_000

/** The day on which the studies request the loans unless told otherwise: fixed, so that every run prints the same. */
export const REQUESTED_ON = '2026-01-15'

/** A loan of the PKDD'99 ("Berka") data, with all transactions of its account before it. */
export interface Loan {
  requestedAtMs: number
  amount: number
  /** The monthly payment that was agreed. */
  instalment: number
  isBad: boolean
  transactions: readonly TransactionFact[]
}

/** A loan as the policy decides it. */
export interface Decided extends Scored {
  loan: Loan
  facts: Facts
  evaluation: Evaluation
}

/** Reads the loans from a folder with loans*.csv and transactions*.csv. */
export function readLoans(folder: string): Loan[] {
  const transactions = Map.groupBy(readTable(folder, 'transactions'), ({ account_id }) => account_id)
  return readTable(folder, 'loans').map((row) => ({
    requestedAtMs: dateMs(row.date),
    amount: Number(row.amount),
    instalment: Number(row.payments),
    // A and B are ended loans, C and D running ones; B and D were not paid as agreed.
    isBad: row.status === 'B' || row.status === 'D',
    transactions: (transactions.get(row.account_id) ?? []).map(transactionOf),
  }))
}

/** Decides a loan as if it was requested at an instant: all dates of its account move by the same number of days. */
export function decideLoan(policy: CompiledPolicy, loan: Loan, now: string): Decided {
  const shiftMs = Math.floor(Date.parse(now) / DAY_MS) * DAY_MS - loan.requestedAtMs
  const before = loan.transactions.map((fact) => shifted(fact, shiftMs))
  const state = applyTransactions(knownCustomer(now), before)
  const request = { product: 'default', requestedAmount: loan.amount, currency: 'CZK' }
  const facts = deriveFacts({ state, entity: { type: 'person', country: 'CZ' }, request, now })
  const evaluation = decide(policy, facts)
  const { total, bad_ppm } = evaluation.trace.score
  return { loan, facts, evaluation, score: total, probabilityOfBad: bad_ppm! / 1e6, isBad: loan.isBad }
}

/** The loan without the newest or the oldest debit of its account, as if it had never been paid: later balances are higher. */
export function withoutDebit(loan: Loan, which: 'newest' | 'oldest'): Loan {
  const isDebit = ({ direction }: TransactionFact) => direction === 'debit'
  const transactions = inOrderOfBooking(loan.transactions)
  const at = which === 'newest' ? transactions.findLastIndex(isDebit) : transactions.findIndex(isDebit)
  if (at < 0) return loan
  const { amount } = transactions[at]!
  return {
    ...loan,
    transactions: transactions.flatMap((fact, index) => {
      if (index === at) return []
      return index < at ? [fact] : [{ ...fact, balanceAfter: Math.round((fact.balanceAfter! + amount) * 100) / 100 }]
    }),
  }
}

/** The transactions in the order in which their balances follow from each other: those of one day are listed in any order. */
function inOrderOfBooking(transactions: readonly TransactionFact[]): TransactionFact[] {
  const left = transactions.toSorted((a, b) => a.occurredAt.localeCompare(b.occurredAt))
  const inOrder: TransactionFact[] = []
  let balance = 0
  while (left.length > 0) {
    const ofDay = left.filter(({ occurredAt }) => occurredAt === left[0]!.occurredAt)
    const follows = ({ amount, direction, balanceAfter }: TransactionFact) =>
      Math.abs(balance + (direction === 'credit' ? amount : -amount) - balanceAfter!) < 1
    const next = ofDay.find(follows) ?? ofDay[0]!
    left.splice(left.indexOf(next), 1)
    inOrder.push(next)
    balance = next.balanceAfter!
  }
  return inOrder
}

/** The bank had known all applicants for months, so all of them get a verified identity and a consent. */
function knownCustomer(now: string): EntityState {
  const verification = { status: 'verified' } as const
  const dated = { verification, createdAt: now }
  let state = applyIdentityLink(emptyState(), { identifier: { type: 'government_id', hash: 'a' }, ...dated })
  state = applyIdentityLink(state, { identifier: { type: 'bank_account', hash: 'b' }, ...dated })
  return applyConsent(state, {
    purpose: 'credit_underwriting',
    status: 'granted',
    dataCategories: [],
    grantedAt: now,
  })
}

function transactionOf(row: Record<string, string>): TransactionFact {
  return {
    externalId: (row.trans_id ?? '').padStart(10, '0'),
    occurredAt: new Date(dateMs(row.date)).toISOString(),
    amount: Number(row.amount),
    currency: 'CZK',
    direction: row.type === 'credit' ? 'credit' : 'debit',
    description: [row.operation, row.k_symbol].filter(Boolean).join(' '),
    ...(row.account && { counterparty: lettersOf(row.account) }),
    balanceAfter: Number(row.balance),
  }
}

function shifted(fact: TransactionFact, shiftMs: number): TransactionFact {
  return { ...fact, occurredAt: new Date(Date.parse(fact.occurredAt) + shiftMs).toISOString() }
}

/** Dates look like 930705 (5 July 1993). */
function dateMs(text = ''): number {
  return Date.UTC(1900 + Number(text.slice(0, 2)), Number(text.slice(2, 4)) - 1, Number(text.slice(4, 6)))
}

function readTable(folder: string, prefix: string): Record<string, string>[] {
  const name = readdirSync(folder).find((file) => file.startsWith(prefix) && file.endsWith('.csv'))
  if (name === undefined) throw new Error(`there is no ${prefix}*.csv in ${folder}`)
  const [header = '', ...lines] = readFileSync(join(folder, name), 'utf8').trim().split(/\r?\n/)
  const columns = header.split(',')
  return lines.map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))
  })
}

/** An account number in letters: digits in a name count as a date or a reference. */
function lettersOf(account: string): string {
  return account.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!)
}
