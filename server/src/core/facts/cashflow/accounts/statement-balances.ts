import type { BalanceKind } from '../../../vocabularies.ts'
import type { Units } from '../../units.ts'
import { endsOf, ROUNDING } from '../balance-chain.ts'
import type { DayBucket } from '../day-bucket.ts'

/** A balance that a statement gives for a day. */
export interface StatementBalanceFact {
  /** The key of its account; absent if the caller named none. */
  account?: string
  currency: string
  /** The number of the day since 1970. */
  day: number
  kind: BalanceKind
  units: Units
}

/** The balances that statements give for one day: before its first transaction, and after its last. */
export type StatementDay = readonly [day: number, opening: Units | null, closing: Units | null]

/** Adds a balance to those of an account, oldest first; it replaces one of the same day and kind. */
export function addStatement(
  known: readonly StatementDay[],
  { day, kind, units }: Pick<StatementBalanceFact, 'day' | 'kind' | 'units'>,
): StatementDay[] {
  const [, opening, closing] = known.find(([of]) => of === day) ?? [day, null, null]
  const next: StatementDay = kind === 'opening' ? [day, units, closing] : [day, opening, units]
  return [...known.filter(([of]) => of !== day), next].sort(([a], [b]) => a - b)
}

/** The balances at the ends of days, and how many statement balances could be compared with what led to them. */
export interface DayEnds {
  /** By day, oldest first; only days on which the balance is known. */
  balances: ReadonlyMap<number, number>
  compared: number
  broken: number
}

/**
 * Follows the balance of an account from day to day: by the balances that its transactions report, by those of statements,
 * and by the amounts in between. Days before the first statement are counted back from it.
 */
export function dayEnds(days: readonly DayBucket[], statements: readonly StatementDay[]): DayEnds {
  const bucketOf = new Map(days.map((bucket) => [bucket.day, bucket]))
  const statementOf = new Map(statements.map((statement) => [statement[0], statement]))
  const order = [...new Set([...bucketOf.keys(), ...statementOf.keys()])].sort((a, b) => a - b)
  const balances = new Map<number, number>()
  const chain = new ComparedBalance()
  let firstKnown: { day: number; start: number } | undefined
  for (const day of order) {
    const [, opening, closing] = statementOf.get(day) ?? [day, null, null]
    const bucket = bucketOf.get(day)
    if (opening !== null) chain.report(Number(opening))
    const start = chain.balance
    if (bucket) chain.balance = endOf(bucket, start)
    if (closing !== null) chain.report(Number(closing))
    if (chain.balance === undefined) continue
    balances.set(day, chain.balance)
    firstKnown ??= { day, start: start ?? chain.balance - changeOf(bucket) }
  }
  const { compared, broken } = chain
  if (statements.length === 0 || firstKnown === undefined) return { balances, compared, broken }
  return { balances: new Map([...countedBack(days, firstKnown), ...balances]), compared, broken }
}

/** A balance that is compared with each that is reported, and then is that one. */
class ComparedBalance {
  balance: number | undefined
  compared = 0
  broken = 0

  report(balance: number): void {
    if (this.balance !== undefined) {
      this.compared += 1
      if (Math.abs(balance - this.balance) > ROUNDING) this.broken += 1
    }
    this.balance = balance
  }
}

/** The balance after a day: what its transactions report, or else the balance before it and their amounts. */
function endOf(bucket: DayBucket, start: number | undefined): number | undefined {
  const reported = bucket.balances === bucket.transactions ? endsOf(bucket)?.close : undefined
  if (reported !== undefined) return reported
  if (start !== undefined) return start + changeOf(bucket)
  return bucket.balances > 0 ? Number(bucket.lowestBalance) : undefined
}

function changeOf(bucket: DayBucket | undefined): number {
  return bucket === undefined ? 0 : Number(bucket.net) + Number(bucket.netWithout)
}

/** The balances at the ends of the days before the first on which the balance is known, oldest first. */
function countedBack(days: readonly DayBucket[], first: { day: number; start: number }): [number, number][] {
  let balance = first.start
  const counted: [number, number][] = []
  for (const bucket of days.filter(({ day }) => day < first.day).reverse()) {
    counted.unshift([bucket.day, balance])
    balance -= changeOf(bucket)
  }
  return counted
}
