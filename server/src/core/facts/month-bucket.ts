import { type Money, moneyOf } from '../money.ts'
import { hasCategory } from './transaction-categories.ts'
import type { TransactionFact } from './transaction-fact.ts'

/**
 * One month of cash flow in one currency. Money is kept as text, an integer of ten-thousandths, so that sums are exact.
 *
 * INVARIANT: every field is a sum, a count, a minimum or a set, so the order of transactions does not matter.
 */
export interface MonthBucket {
  /** Income: credits other than own transfers, loan proceeds and returned payments. */
  inflow: string
  credits: number
  /** Spending, including loan repayments: debits other than own transfers and returned payments. */
  outflow: string
  debits: number
  /** Moved between the entity's own accounts, in both directions. */
  transferred: string
  borrowed: string
  repaid: string
  returned: number
  /** How many transactions report the balance after them, with the sum and the sum of squares of those balances. */
  balances: number
  balanceSum: string
  balanceSquares: string
  balanceMin: string | null
  /** How many of those transactions were debits. */
  debitBalances: number
  /** Debits after which the balance is below one and a half times their amount: the account has little reserve. */
  lowBalances: number
  /** The days of the month on which a debit left the balance below zero, one bit each. */
  negativeDays: number
  /** The same for credits; used only in months in which no debit reports a balance. */
  negativeCreditDays: number
}

/** A month bucket while a batch is added to it: the same fields, with money as bigint. */
export interface OpenMonth extends Omit<MonthBucket, MoneyField | 'balanceMin'>, Record<MoneyField, Money> {
  balanceMin: Money | null
}

type MoneyField = 'inflow' | 'outflow' | 'transferred' | 'borrowed' | 'repaid' | 'balanceSum' | 'balanceSquares'

const NEW_MONTH: MonthBucket = {
  inflow: '0',
  credits: 0,
  outflow: '0',
  debits: 0,
  transferred: '0',
  borrowed: '0',
  repaid: '0',
  returned: 0,
  balances: 0,
  balanceSum: '0',
  balanceSquares: '0',
  balanceMin: null,
  debitBalances: 0,
  lowBalances: 0,
  negativeDays: 0,
  negativeCreditDays: 0,
}

/** Prepares a month bucket for adding transactions; without one, starts an empty month. */
export function openMonth(bucket: MonthBucket = NEW_MONTH): OpenMonth {
  return {
    ...bucket,
    inflow: BigInt(bucket.inflow),
    outflow: BigInt(bucket.outflow),
    transferred: BigInt(bucket.transferred),
    borrowed: BigInt(bucket.borrowed),
    repaid: BigInt(bucket.repaid),
    balanceSum: BigInt(bucket.balanceSum),
    balanceSquares: BigInt(bucket.balanceSquares),
    balanceMin: bucket.balanceMin === null ? null : BigInt(bucket.balanceMin),
  }
}

/** Turns an open month back into its bucket, as plain JSON. */
export function closeMonth(month: OpenMonth): MonthBucket {
  return {
    ...month,
    inflow: String(month.inflow),
    outflow: String(month.outflow),
    transferred: String(month.transferred),
    borrowed: String(month.borrowed),
    repaid: String(month.repaid),
    balanceSum: String(month.balanceSum),
    balanceSquares: String(month.balanceSquares),
    balanceMin: month.balanceMin === null ? null : String(month.balanceMin),
  }
}

/** Adds one transaction to an open month, in place. */
export function addToMonth(month: OpenMonth, transaction: TransactionFact): void {
  const amount = moneyOf(transaction.amount)
  addFlow(month, transaction, amount)
  if (transaction.balanceAfter !== undefined) {
    const day = Number(transaction.occurredAt.slice(8, 10))
    const balance = moneyOf(transaction.balanceAfter)
    addBalance(month, balance)
    if (transaction.direction === 'debit') addDebitBalance(month, { balance, amount, day })
    else if (balance < 0n) month.negativeCreditDays |= 1 << (day - 1)
  }
}

function addFlow(month: OpenMonth, transaction: TransactionFact, amount: Money): void {
  if (hasCategory(transaction, 'own_transfer')) month.transferred += amount
  else if (hasCategory(transaction, 'returned_payment')) month.returned += 1
  else if (transaction.direction === 'debit') addSpending(month, transaction, amount)
  else if (hasCategory(transaction, 'loan_proceeds')) month.borrowed += amount
  else {
    month.inflow += amount
    month.credits += 1
  }
}

function addSpending(month: OpenMonth, transaction: TransactionFact, amount: Money): void {
  month.outflow += amount
  month.debits += 1
  if (hasCategory(transaction, 'loan_repayment')) month.repaid += amount
}

function addBalance(month: OpenMonth, balance: Money): void {
  month.balances += 1
  month.balanceSum += balance
  month.balanceSquares += balance * balance
  if (month.balanceMin === null || balance < month.balanceMin) month.balanceMin = balance
}

/** Only debits can empty or overdraw an account, so a credit never counts as a low balance. */
function addDebitBalance(month: OpenMonth, { balance, amount, day }: { balance: Money; amount: Money; day: number }) {
  month.debitBalances += 1
  if (2n * balance < 3n * amount) month.lowBalances += 1
  if (balance < 0n) month.negativeDays |= 1 << (day - 1)
}
