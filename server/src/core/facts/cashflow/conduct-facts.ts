import { MONTH_DAYS, QUARTER_DAYS } from '../fact-windows.ts'
import { type Fact, known, missing } from '../facts.ts'
import { holdsMoney } from './accounts/account-terms.ts'
import type { ObservedYear } from './observed-span.ts'

/** Overdrawn days by recency and returned payments. */
export type ConductFacts = Record<'overdrawnDays30' | 'overdrawnDays90' | 'overdrawnDays365' | 'returnedPayments', Fact>

/**
 * The conduct of the accounts in all currencies over the last year: an overdraft counts whatever the currency of the
 * request is, and whatever other accounts hold. A card or a loan is always below zero.
 */
export function conductFacts(years: readonly ObservedYear[], today: number): ConductFacts {
  let lastSeen = Number.NEGATIVE_INFINITY
  let returned = 0
  let reportsBalances = false
  const overdrawn = new Set<number>()
  for (const { year, span } of years) {
    if (span === undefined) continue
    lastSeen = Math.max(lastSeen, span.last)
    for (const { days, terms } of year.accounts) {
      // Only debits can overdraw an account; credits show an overdraft where no debit reports a balance.
      const byDebits = days.some(({ debitBalances }) => debitBalances > 0)
      for (const figures of days) {
        returned += figures.returned
        if (!holdsMoney(terms)) continue
        reportsBalances ||= figures.balances > 0
        // A day without any balance has a lowest one of zero.
        if ((byDebits ? figures.lowestAfterDebit : figures.lowestBalance) < 0) overdrawn.add(figures.day)
      }
    }
  }
  if (lastSeen === Number.NEGATIVE_INFINITY) return NOTHING_SEEN
  const age = today - lastSeen
  const within = (days: number) => {
    if (!reportsBalances) return missing('no_data')
    let count = 0
    for (const day of overdrawn) if (day > today - days) count += 1
    return known(count, age)
  }
  return {
    overdrawnDays30: within(MONTH_DAYS),
    overdrawnDays90: within(QUARTER_DAYS),
    overdrawnDays365: within(Number.POSITIVE_INFINITY),
    returnedPayments: known(returned, age),
  }
}

const NOTHING_SEEN: ConductFacts = {
  overdrawnDays30: missing('no_data'),
  overdrawnDays90: missing('no_data'),
  overdrawnDays365: missing('no_data'),
  returnedPayments: missing('no_data'),
}
