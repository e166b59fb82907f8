import { compareText } from '../../plain-spelling.ts'
import type { Credit, DayBucket } from '../cashflow/day-bucket.ts'
import { compareUnits, sumUnits, type Units, unitsOf } from '../units.ts'

/** Combines what several entities report of one account, day by day. */
export function combineDays(reports: readonly (readonly DayBucket[])[]): Map<number, DayBucket> {
  const combined = new Map<number, DayBucket>()
  for (const days of reports) {
    for (const bucket of days) {
      const known = combined.get(bucket.day)
      combined.set(bucket.day, known ? combineDay(known, bucket) : bucket)
    }
  }
  return combined
}

/**
 * Combines two reports of one day. Movements of the same amount in the same direction are the same movement, unless one of the
 * reports has several of them. Balances form a chain only together with the transactions between them, so they are those of the
 * report with more transactions.
 */
function combineDay(one: DayBucket, other: DayBucket): DayBucket {
  const repayments = combineMovements([one.repayments, other.repayments], (units) => units)
  return {
    ...(compareChains(one, other) <= 0 ? one : other),
    returned: Math.max(one.returned, other.returned),
    credits: combineMovements([one.credits, other.credits], ([units]) => units),
    otherCredits: largerOf(one.otherCredits, other.otherCredits),
    debits: combineMovements([one.debits, other.debits], (units) => units),
    otherDebits: largerOf(one.otherDebits, other.otherDebits),
    repayments,
    repaid: sumUnits([...repayments, largerOf(repaidBeside(one), repaidBeside(other))]),
    transfers: combineMovements([one.transfers, other.transfers], (units) => units),
  }
}

/** What repaid loans and is too small to be listed. */
function repaidBeside({ repaid, repayments }: DayBucket): Units {
  return unitsOf(BigInt(repaid) - BigInt(sumUnits(repayments)))
}

function largerOf(one: Units, other: Units): Units {
  return compareUnits(one, other) >= 0 ? one : other
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

const CHAIN = [
  'transactions',
  'balances',
  'debitCount',
  'debitBalances',
  'lowestBalance',
  'lowestAfterDebit',
  'net',
  'squares',
  'debited',
  'netWithout',
] as const satisfies readonly (keyof DayBucket)[]

/** Orders reports of a day, the one with more transactions first. */
function compareChains(one: DayBucket, other: DayBucket): number {
  for (const name of CHAIN) {
    const order = compareUnits(other[name], one[name])
    if (order !== 0) return order
  }
  return 0
}
