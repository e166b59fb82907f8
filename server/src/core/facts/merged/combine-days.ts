import { compareText } from '../../plain-spelling.ts'
import { type Credit, type DayBucket, newDay } from '../cashflow/day-bucket.ts'
import { compareUnits, sumUnits, type Units, unitsOf } from '../units.ts'
import { changeOf, holdsAllOf } from './same-day.ts'

/** Combines what several entities report of one account, day by day. */
export function combineDays(reports: readonly (readonly DayBucket[])[]): Map<number, DayBucket> {
  const byDay = Map.groupBy(reports.flat(), ({ day }) => day)
  return new Map([...byDay].map(([day, buckets]) => [day, combineDay(buckets)]))
}

/**
 * Combines reports of one day. Movements of the same amount in the same direction are the same movement, unless one of the
 * reports has several of them. Balances form a chain only together with the transactions between them, so the chain is that of
 * the report with most balances; but the lowest balance is the lowest that any of them has, and if none has all that the others
 * have, the balances count as broken.
 */
function combineDay(reports: readonly DayBucket[]): DayBucket {
  const [first] = reports as readonly [DayBucket]
  if (reports.length === 1) return first
  const mostOf = (name: 'transactions' | 'debitCount' | 'returned' | 'balances' | 'debitBalances' | Provider) =>
    Math.max(...reports.map((report) => report[name]))
  const listOf = <Movement extends Units | Credit>(
    name: 'credits' | 'debits' | 'repayments' | 'transfers',
    amountOf: (movement: Movement) => Units,
  ) =>
    combineMovements(
      reports.map((report) => report[name] as readonly Movement[]),
      amountOf,
    )
  const whole = reports.toSorted(firstBy(['transactions', 'debitCount', 'balances'])).at(0)!
  const { net, squares } = reports.toSorted(firstBy(['balances', 'transactions'])).at(0)!
  const repayments = listOf<Units>('repayments', asTheyAre)
  const balances = mostOf('balances')
  const isHeldByOne = reports.some((report) => reports.every((other) => holdsAllOf(report, other)))
  return {
    ...newDay(first.day),
    transactions: mostOf('transactions'),
    debitCount: mostOf('debitCount'),
    returned: mostOf('returned'),
    credits: listOf<Credit>('credits', ([units]) => units),
    otherCredits: largestOf(reports.map(({ otherCredits }) => otherCredits)),
    debits: listOf<Units>('debits', asTheyAre),
    otherDebits: largestOf(reports.map(({ otherDebits }) => otherDebits)),
    repayments,
    repaid: sumUnits([...repayments, largestOf(reports.map(repaidBeside))]),
    transfers: listOf<Units>('transfers', asTheyAre),
    balances,
    lowestBalance: lowestOf(reports, { count: 'balances', lowest: 'lowestBalance' }),
    debitBalances: mostOf('debitBalances'),
    debited: largestOf(reports.map(({ debited }) => debited)),
    lowestAfterDebit: lowestOf(reports, { count: 'debitBalances', lowest: 'lowestAfterDebit' }),
    fromApplicant: mostOf('fromApplicant'),
    fromOthers: mostOf('fromOthers'),
    net,
    squares,
    netWithout: unitsOf(BigInt(changeOf(whole)) - BigInt(net)),
    contradictions: balances > 0 && !isHeldByOne ? 1 : 0,
  }
}

type Provider = 'fromApplicant' | 'fromOthers'

function asTheyAre(units: Units): Units {
  return units
}

/** The lowest balance of the reports that have one. */
function lowestOf(
  reports: readonly DayBucket[],
  { count, lowest }: { count: 'balances' | 'debitBalances'; lowest: 'lowestBalance' | 'lowestAfterDebit' },
): Units {
  const [first = 0] = reports
    .filter((report) => report[count] > 0)
    .map((report) => report[lowest])
    .sort(compareUnits)
  return first
}

/** What repaid loans and is too small to be listed. */
function repaidBeside({ repaid, repayments }: DayBucket): Units {
  return unitsOf(BigInt(repaid) - BigInt(sumUnits(repayments)))
}

function largestOf(amounts: readonly Units[]): Units {
  return amounts.toSorted(compareUnits).at(-1)!
}

/** Movements of one amount, with their text: two lists of equal length are compared by it. */
interface Alike<Movement> {
  movements: readonly Movement[]
  text: string
}

/** Of the movements of each amount, those of the report that has most of them, the largest amount first. */
function combineMovements<Movement extends Units | Credit>(
  lists: readonly (readonly Movement[])[],
  amountOf: (movement: Movement) => Units,
): Movement[] {
  const byAmount = new Map<string, Alike<Movement>>()
  for (const list of lists) {
    for (const [amount, movements] of Map.groupBy(list, (movement) => String(amountOf(movement)))) {
      const known = byAmount.get(amount)
      const alike = { movements, text: JSON.stringify(movements) }
      if (!known || compareAlike(alike, known) < 0) byAmount.set(amount, alike)
    }
  }
  const sizeOf = (movement: Movement) => sizeOfUnits(amountOf(movement))
  return [...byAmount.values()]
    .flatMap(({ movements }) => movements)
    .sort((a, b) => compareUnits(sizeOf(b), sizeOf(a)) || compareUnits(amountOf(b), amountOf(a)))
}

/** More first. Of equally many credits, refunds (whose key is negative) come first: what may not be income is not. */
function compareAlike<Movement>(one: Alike<Movement>, other: Alike<Movement>): number {
  return other.movements.length - one.movements.length || compareText(one.text, other.text)
}

function sizeOfUnits(units: Units): Units {
  return typeof units === 'number' ? Math.abs(units) : units.replace('-', '')
}

/** In case of ties, what makes an order that does not depend on which report came first. */
const TIES = ['balances', 'net', 'netWithout', 'squares'] as const satisfies readonly (keyof DayBucket)[]

/** Orders reports of a day by these of their members, the largest first. */
function firstBy(names: readonly ('transactions' | 'debitCount' | 'balances')[]) {
  return (one: DayBucket, other: DayBucket): number => {
    for (const name of [...names, ...TIES]) {
      const order = compareUnits(other[name], one[name])
      if (order !== 0) return order
    }
    return 0
  }
}
