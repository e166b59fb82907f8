import { RATIO_MAX } from '../units.ts'
import type { DayFigures } from './day-figures.ts'
import { spendingDays } from './spending-days.ts'

/** What the balances of an account show; amounts in units of the state. */
export interface BalanceFigures {
  /** Undefined if no day of its window has a balance. */
  lowest: number | undefined
  /** The balance that the account is below on one calendar day in ten: a single bad day does not change it. */
  reserve: number
  average: number
  variation: number
  /** The share of the days with debits whose debits left little behind; undefined if no debit reports a balance. */
  lowShare: number | undefined
}

const RESERVE_SHARE = 0.1

/**
 * Summarises the balances of some days; undefined if none has any.
 *
 * The balance of a day is the lowest after a debit, and holds until the next day with a debit: so more income never looks
 * like a lower balance, and many small debits on the days after a credit count for no more than these days. Where no debit
 * reports a balance, those of credits count.
 */
export function balanceFigures(
  recent: readonly DayFigures[],
  { until, lowestAfter, accounts }: { until: number; lowestAfter: number; accounts: number },
): BalanceFigures | undefined {
  const debitDays = recent.filter(({ debitBalances }) => debitBalances > 0)
  const spending = spendingDays(recent).filter(({ debitBalances }) => debitBalances > 0)
  const afterDebits = spending.length > 0 ? spending : debitDays
  const days = afterDebits.length > 0 ? afterDebits : recent.filter(({ balances }) => balances > 0)
  if (days.length === 0) return undefined
  const held: { balance: number; days: number }[] = []
  let [weight, sum, squares, low] = [0, 0, 0, 0]
  for (const [index, figures] of days.entries()) {
    const balance = balanceOf(figures)
    const heldDays = (days[index + 1]?.day ?? until + 1) - figures.day
    held.push({ balance, days: heldDays })
    weight += heldDays
    sum += heldDays * balance
    squares += heldDays * balance * balance
    if (2 * balance < 3 * figures.debited) low += 1
  }
  const mean = sum / weight
  return {
    lowest: lowestOf((accounts > 1 ? days : [...days, ...debitDays]).filter(({ day }) => day > lowestAfter)),
    reserve: reserveOf(held, weight),
    average: mean,
    variation: mean <= 0 ? RATIO_MAX : Math.sqrt(Math.max(0, squares / weight - mean * mean)) / mean,
    lowShare: afterDebits.length === 0 ? undefined : low / afterDebits.length,
  }
}

function balanceOf({ debitBalances, lowestAfterDebit, lowestBalance }: DayFigures): number {
  return debitBalances > 0 ? lowestAfterDebit : lowestBalance
}

/**
 * The lowest balance of some days. Of one account, days with nothing but a fee or an own transfer belong to them: no debit can
 * raise the lowest balance. Between several accounts, money may be on its way on such a day.
 */
function lowestOf(days: readonly DayFigures[]): number | undefined {
  if (days.length === 0) return undefined
  return days.reduce((lowest, day) => Math.min(lowest, balanceOf(day)), Number.POSITIVE_INFINITY)
}

/** The lowest balance that more than a tenth of the days are not above. */
function reserveOf(held: { balance: number; days: number }[], weight: number): number {
  held.sort((a, b) => a.balance - b.balance)
  let days = 0
  for (const day of held) {
    days += day.days
    if (days > weight * RESERVE_SHARE) return day.balance
  }
  return held.at(-1)!.balance
}
