import { type DayBucket, incomeOf, outflowOf } from './day-bucket.ts'

/** One day of an account, or of several together, as the facts read it: plain numbers, amounts in units of the state. */
export interface DayFigures {
  day: number
  /** What came in as income, whether any of it did, and the money that came in only to go out again. */
  income: number
  hasIncome: boolean
  circularIn: number
  /** What went out as spending, whether any of it did, the part of it that repaid loans, and money that only went round. */
  outflow: number
  hasOutflow: boolean
  repaid: number
  circularOut: number
  /** How many transactions were debits, and how many were returned payments. */
  debits: number
  returned: number
  /** How many transactions report a balance, the lowest of these, and how many do not follow from the one before. */
  balances: number
  lowestBalance: number
  broken: number
  /** How many debits report a balance, the sum of these debits, and the lowest balance after one. */
  debitBalances: number
  debited: number
  lowestAfterDebit: number
}

/** Converts and sums the amounts of a day, once for all the facts that read them. */
export function dayFigures(bucket: DayBucket): DayFigures {
  return {
    day: bucket.day,
    income: incomeOf(bucket),
    hasIncome: bucket.credits.length > 0,
    circularIn: Number(bucket.circularIn),
    outflow: outflowOf(bucket),
    hasOutflow: bucket.debits.length > 0 || Number(bucket.neutralOut) < 0,
    repaid: Number(bucket.repaid) + Number(bucket.toLoans),
    circularOut: Number(bucket.circularOut),
    debits: bucket.debitCount,
    returned: bucket.returned,
    balances: bucket.balances,
    lowestBalance: Number(bucket.lowestBalance),
    broken: bucket.broken,
    debitBalances: bucket.debitBalances,
    debited: Number(bucket.debited),
    lowestAfterDebit: Number(bucket.lowestAfterDebit),
  }
}
