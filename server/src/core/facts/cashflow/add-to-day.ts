import { type Money, moneyOf } from '../../money.ts'
import { addUnits, compareUnits, type Units, unitsOf } from '../units.ts'
import { UNNAMED } from './accounts/account-terms.ts'
import { addProvider } from './data-providers.ts'
import { type Credit, type DayBucket, REFUND } from './day-bucket.ts'
import { kindOf } from './recognize-category.ts'
import { streamKey } from './stream-key.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** The credits of a day by which regular payers and money that goes around are found; more would swell the state. */
export const CREDITS_KEPT = 4
/** The debits of a day by which money that goes around is found. */
export const DEBITS_KEPT = 5

// A transfer between two accounts is found by both legs. Beside others on a busy day it may be small, so a day of a named
// account lists more. An entity with one unnamed account has no second leg, and its state stays small.
const LEGS_KEPT = 12

/** Adds one transaction to a day, in place. */
export function addToDay(bucket: DayBucket, transaction: TransactionFact): void {
  const amount = moneyOf(transaction.amount)
  const isDebit = transaction.direction === 'debit'
  const change = isDebit ? -amount : amount
  bucket.transactions += 1
  if (isDebit) bucket.debitCount += 1
  addProvider(bucket, transaction.providedBy)
  addFlow(bucket, transaction, amount)
  if (transaction.balanceAfter === undefined) {
    bucket.netWithout = addUnits(bucket.netWithout, change)
    return
  }
  const balance = moneyOf(transaction.balanceAfter)
  addBalance(bucket, balance, change)
  if (isDebit) addDebitBalance(bucket, balance, amount)
}

function addFlow(bucket: DayBucket, transaction: TransactionFact, amount: Money): void {
  const { account = UNNAMED, direction } = transaction
  const listed = account === UNNAMED ? { credits: CREDITS_KEPT, debits: DEBITS_KEPT } : NAMED
  const kind = kindOf(transaction)
  if (kind === 'returned_payment') bucket.returned += 1
  else if (kind === 'own_transfer') addTransfer(bucket, direction === 'debit' ? -amount : amount, listed.credits)
  else if (direction === 'debit') {
    addDebit(bucket, amount, { isRepayment: kind === 'loan_repayment', listedMax: listed.debits })
  } else if (kind !== 'loan_proceeds') {
    const key = kind === 'refund' ? REFUND : streamKey(transaction)
    addCredit(bucket, [unitsOf(amount), key], listed.credits)
  }
}

const NAMED = { credits: LEGS_KEPT, debits: LEGS_KEPT }

function addCredit(bucket: DayBucket, credit: Credit, listedMax: number): void {
  const credits = [...bucket.credits, credit].sort(([a, keyA], [b, keyB]) => compareUnits(b, a) || keyA - keyB)
  const [smallest] = credits.length > listedMax ? credits.pop()! : []
  bucket.credits = credits
  if (smallest !== undefined) bucket.otherCredits = addUnits(bucket.otherCredits, BigInt(smallest))
}

function addDebit(
  bucket: DayBucket,
  amount: Money,
  { isRepayment, listedMax }: { isRepayment: boolean; listedMax: number },
): void {
  const units = unitsOf(amount)
  const debits = [...bucket.debits, units].sort(largestFirst)
  const smallest = debits.length > listedMax ? debits.pop() : undefined
  bucket.debits = debits
  if (smallest !== undefined) bucket.otherDebits = addUnits(bucket.otherDebits, BigInt(smallest))
  if (!isRepayment) return
  bucket.repaid = addUnits(bucket.repaid, amount)
  bucket.repayments = [...bucket.repayments, units].sort(largestFirst).slice(0, listedMax)
}

function addTransfer(bucket: DayBucket, change: Money, listedMax: number): void {
  const bySize = (a: Units, b: Units) => compareUnits(sizeOf(b), sizeOf(a)) || compareUnits(b, a)
  bucket.transfers = [...bucket.transfers, unitsOf(change)].sort(bySize).slice(0, listedMax)
}

function sizeOf(units: Units): Units {
  return typeof units === 'number' ? Math.abs(units) : units.replace('-', '')
}

function largestFirst(a: Units, b: Units): number {
  return compareUnits(b, a)
}

function addBalance(bucket: DayBucket, balance: Money, change: Money): void {
  const before = balance - change
  bucket.lowestBalance = lower(bucket.balances === 0, bucket.lowestBalance, balance)
  bucket.balances += 1
  bucket.net = addUnits(bucket.net, change)
  bucket.squares = addUnits(bucket.squares, balance * balance - before * before)
}

function addDebitBalance(bucket: DayBucket, balance: Money, amount: Money): void {
  bucket.lowestAfterDebit = lower(bucket.debitBalances === 0, bucket.lowestAfterDebit, balance)
  bucket.debitBalances += 1
  bucket.debited = addUnits(bucket.debited, amount)
}

function lower(isFirst: boolean, lowest: Units, balance: Money): Units {
  return isFirst || balance < BigInt(lowest) ? unitsOf(balance) : lowest
}
