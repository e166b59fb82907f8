import type { Units } from '../units.ts'

/** A credit that counts as income, with the key of the payer or purpose that it comes from. */
export type Credit = readonly [amount: Units, key: number]

/** The key of refunds: money that comes back is never income that recurs. */
export const REFUND = -1

/**
 * One day of an account in one currency.
 *
 * INVARIANT: every member up to `transfers` is a sum, a count, a minimum, or the largest of a set, so the order of
 * transactions does not matter; the others are found from all days of all accounts together, and from all reports of a day.
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
  /** How many transactions the applicant provided, and how many others who do not depend on them: see `data-providers.ts`. */
  fromApplicant: number
  fromOthers: number
  /** The sum of the signed amounts of transactions that report no balance. */
  netWithout: Units
  /** Which of the listed debits repay loans, by their amounts. */
  repayments: readonly Units[]
  /** The largest own transfers that are tagged as such, largest first; those that went out are negative. */
  transfers: readonly Units[]
  /** Money that came in, or went out, only to go the other way: neither income nor spending. */
  circularIn: Units
  circularOut: Units
  /** How many balances do not follow from the one before. */
  broken: number
  /**
   * Own transfers between accounts on file, and refunds with their purchase on file: neither income nor spending. What is tagged
   * as an own transfer and repaid a loan is spending although the day does not list it, so it is taken away here.
   */
  neutralIn: Units
  neutralOut: Units
  /** Spending that was found to repay a loan on file, less what seemed to and was paid to a card on file. */
  toLoans: Units
  /** One if merged entities report balances of this day that cannot be of one account, as they should be. */
  contradictions: number
}

/** A day as the state keeps it: its number and the members of `EMPTY_DAY`, without zeros and empty lists at the end. */
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
  fromApplicant: 0,
  fromOthers: 0,
  repaid: 0,
  otherCredits: 0,
  otherDebits: 0,
  returned: 0,
  circularIn: 0,
  circularOut: 0,
  broken: 0,
  netWithout: 0,
  repayments: [],
  transfers: [],
  neutralIn: 0,
  neutralOut: 0,
  toLoans: 0,
  contradictions: 0,
}

const NAMES = Object.keys(EMPTY_DAY) as (keyof typeof EMPTY_DAY)[]

/** The members before these are lists that every day has, so an empty one is not left out. */
const FIRST_OMITTED = 4

/** A day without transactions. */
export function newDay(day: number): DayBucket {
  return { day, ...EMPTY_DAY }
}

/** Packs a day for the state. */
export function packDay(bucket: DayBucket): PackedDay {
  const values: PackedDay[number][] = [bucket.day]
  for (const name of NAMES) values.push(bucket[name])
  while (values.length > FIRST_OMITTED && isEmpty(values.at(-1)!)) values.pop()
  return values
}

function isEmpty(value: PackedDay[number]): boolean {
  return value === 0 || (typeof value === 'object' && value.length === 0)
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
    fromApplicant: (packed[12] ?? 0) as number,
    fromOthers: (packed[13] ?? 0) as number,
    repaid: (packed[14] ?? 0) as Units,
    otherCredits: (packed[15] ?? 0) as Units,
    otherDebits: (packed[16] ?? 0) as Units,
    returned: (packed[17] ?? 0) as number,
    circularIn: (packed[18] ?? 0) as Units,
    circularOut: (packed[19] ?? 0) as Units,
    broken: (packed[20] ?? 0) as number,
    netWithout: (packed[21] ?? 0) as Units,
    repayments: (packed[22] ?? NONE) as readonly Units[],
    transfers: (packed[23] ?? NONE) as readonly Units[],
    neutralIn: (packed[24] ?? 0) as Units,
    neutralOut: (packed[25] ?? 0) as Units,
    toLoans: (packed[26] ?? 0) as Units,
    contradictions: (packed[27] ?? 0) as number,
  }
}

const NONE: readonly Units[] = []

/** What came in on a day as income, in units of the state. */
export function incomeOf({ credits, otherCredits, circularIn, neutralIn }: DayBucket): number {
  let income = Number(otherCredits) - Number(circularIn) - Number(neutralIn)
  for (const [amount] of credits) income += Number(amount)
  return income
}

/** What went out on a day as spending, loan repayments included, in units of the state. */
export function outflowOf({ debits, otherDebits, circularOut, neutralOut }: DayBucket): number {
  let outflow = Number(otherDebits) - Number(circularOut) - Number(neutralOut)
  for (const amount of debits) outflow += Number(amount)
  return outflow
}
