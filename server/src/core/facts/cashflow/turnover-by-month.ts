import type { CurrencyCashflow } from './cashflow-state.ts'
import { unpackDay } from './day-bucket.ts'

/**
 * The total of both directions in each calendar month, for the shares of payments between entities. What only moves between
 * the accounts of an entity is left out: it would make its payments look small.
 */
export function turnoverByMonth({ accounts }: CurrencyCashflow): Map<string, bigint> {
  const months = new Map<string, bigint>()
  for (const packed of Object.values(accounts).flatMap(({ days }) => days)) {
    const { day, credits, debits, otherCredits, otherDebits, neutralIn, neutralOut } = unpackDay(packed)
    const month = new Date(Date.UTC(1970, 0, 1 + day)).toISOString().slice(0, 7)
    const amounts = [...credits.map(([units]) => units), ...debits, otherCredits, otherDebits]
    const moved = BigInt(neutralIn) + BigInt(neutralOut)
    const turnover = amounts.reduce((sum: bigint, units) => sum + BigInt(units), (months.get(month) ?? 0n) - moved)
    months.set(month, turnover)
  }
  return months
}
