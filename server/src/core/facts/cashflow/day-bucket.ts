import { type Money, moneyOf } from '../../money.ts'
import { addUnits, compareUnits, type Units, unitsOf } from '../units.ts'
import { kindOf } from './recognize-category.ts'
import { streamKey } from './stream-key.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** A credit that counts as income, with the key of the payer or purpose that it comes from. */
export type Credit = readonly [amount: Units, key: number]

/**
 * One day of cash flow in one currency.
 *
 * INVARIANT: every member but the last three is a sum, a count, a minimum, or the largest of a set, so the order of
 * transactions does not matter; the last three are found from all days together.
 */
export interface DayBucket {
  /** The number of the day since 1970. */
  day: number
  transactions: number
  /** How many of them were debits, of any kind. */
  debitCount: number
  returned: number
  /** The largest credits that count as income, largest first, and the sum of all others. */
  credits: readonly Credit[]
  otherCredits: Units
  /** The largest debits that count as spending, largest first, and the sum of all others. */
  debits: readonly Units[]
  otherDebits: Units
  /** The part of the debits that repays loans. */
  repaid: Units
  /** How many transactions report the balance after them, and the lowest of these balances. */
  balances: number
  lowestBalance: Units
  /** The sum of their signed amounts, and Σ(after² − before²): see `balance-chain.ts`. */
  net: Units
  squares: Units
  /** How many debits report a balance, their sum, and the lowest balance after one. */
  debitBalances: number
  debited: Units
  lowestAfterDebit: Units
  /** Money that came in, or went out, only to go the other way: neither income nor spending. */
  circularIn: Units
  circularOut: Units
  /** How many balances do not follow from the one before. */
  broken: number
}

/** A day as the state keeps it: its number and the members of `EMPTY_DAY`, without zeros at the end. */
export type PackedDay = readonly (Units | readonly (Units | Credit)[])[]

/** The members of a day after its number, in the order in which the state keeps them. */
const EMPTY_DAY: Omit<DayBucket, 'day'> = {
  transactions: 0,
  debits: [],
  credits: [],
  debitCount: 0,
  balances: 0,
  lowestBalance: 0,
  net: 0,
  squares: 0,
  debitBalances: 0,
  debited: 0,
  lowestAfterDebit: 0,
  repaid: 0,
  otherCredits: 0,
  otherDebits: 0,
  returned: 0,
  circularIn: 0,
  circularOut: 0,
  broken: 0,
}

/** A day without transactions. */
export function newDay(day: number): DayBucket {
  return { day, ...EMPTY_DAY }
}

/** Packs a day for the state. */
export function packDay(bucket: DayBucket): PackedDay {
  const names = Object.keys(EMPTY_DAY) as (keyof typeof EMPTY_DAY)[]
  const values = [bucket.day, ...names.map((name) => bucket[name])]
  while (values.at(-1) === 0) values.pop()
  return values
}

/** Reads a packed day. Every day gets all members in one order, because V8 reads objects of one shape faster. */
export function unpackDay(packed: PackedDay): DayBucket {
  return {
    day: packed[0] as number,
    transactions: packed[1] as number,
    debits: packed[2] as readonly Units[],
    credits: packed[3] as readonly Credit[],
    debitCount: (packed[4] ?? 0) as number,
    balances: (packed[5] ?? 0) as number,
    lowestBalance: (packed[6] ?? 0) as Units,
    net: (packed[7] ?? 0) as Units,
    squares: (packed[8] ?? 0) as Units,
    debitBalances: (packed[9] ?? 0) as number,
    debited: (packed[10] ?? 0) as Units,
    lowestAfterDebit: (packed[11] ?? 0) as Units,
    repaid: (packed[12] ?? 0) as Units,
    otherCredits: (packed[13] ?? 0) as Units,
    otherDebits: (packed[14] ?? 0) as Units,
    returned: (packed[15] ?? 0) as number,
    circularIn: (packed[16] ?? 0) as Units,
    circularOut: (packed[17] ?? 0) as Units,
    broken: (packed[18] ?? 0) as number,
  }
}

// Enough to find regular payers and money that goes around; the state of an account with more stays bounded.
const CREDITS_KEPT = 4
/** The debits of a day that are kept; more than its credits. */
export const DEBITS_KEPT = 5

/** Adds one transaction to a day, in place. */
export function addToDay(bucket: DayBucket, transaction: TransactionFact): void {
  const amount = moneyOf(transaction.amount)
  const isDebit = transaction.direction === 'debit'
  bucket.transactions += 1
  if (isDebit) bucket.debitCount += 1
  addFlow(bucket, transaction, amount)
  if (transaction.balanceAfter === undefined) return
  const balance = moneyOf(transaction.balanceAfter)
  addBalance(bucket, balance, isDebit ? -amount : amount)
  if (isDebit) addDebitBalance(bucket, balance, amount)
}

function addFlow(bucket: DayBucket, transaction: TransactionFact, amount: Money): void {
  const kind = kindOf(transaction)
  if (kind === 'returned_payment') bucket.returned += 1
  else if (kind === 'own_transfer' || kind === 'refund') return
  else if (transaction.direction === 'debit') {
    addDebit(bucket, amount)
    if (kind === 'loan_repayment') bucket.repaid = addUnits(bucket.repaid, amount)
  } else if (kind !== 'loan_proceeds') addCredit(bucket, [unitsOf(amount), streamKey(transaction)])
}

function addCredit(bucket: DayBucket, credit: Credit): void {
  const credits = [...bucket.credits, credit].sort(([a, keyA], [b, keyB]) => compareUnits(b, a) || keyA - keyB)
  const [smallest] = credits.length > CREDITS_KEPT ? credits.pop()! : []
  bucket.credits = credits
  if (smallest !== undefined) bucket.otherCredits = addUnits(bucket.otherCredits, BigInt(smallest))
}

function addDebit(bucket: DayBucket, amount: Money): void {
  const debits = [...bucket.debits, unitsOf(amount)].sort((a, b) => compareUnits(b, a))
  const smallest = debits.length > DEBITS_KEPT ? debits.pop() : undefined
  bucket.debits = debits
  if (smallest !== undefined) bucket.otherDebits = addUnits(bucket.otherDebits, BigInt(smallest))
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

/** What came in on a day as income, in units of the state. */
export function incomeOf({ credits, otherCredits, circularIn }: DayBucket): number {
  let income = Number(otherCredits) - Number(circularIn)
  for (const [amount] of credits) income += Number(amount)
  return income
}

/** What went out on a day as spending, loan repayments included, in units of the state. */
export function outflowOf({ debits, otherDebits, circularOut }: DayBucket): number {
  let outflow = Number(otherDebits) - Number(circularOut)
  for (const amount of debits) outflow += Number(amount)
  return outflow
}
