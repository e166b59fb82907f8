import { RATIO_MAX } from '../units.ts'
import type { DayFigures } from './day-figures.ts'
import { spendingDays } from './spending-days.ts'

/** What the balances of an account show; amounts in units of the state. */
export interface BalanceFigures {
  lowest: number
  /** The balance that one day in ten falls below: a single bad day does not change it. */
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
 * like a lower balance. Where no debit reports a balance, those of credits count.
 */
export function balanceFigures(recent: readonly DayFigures[], until: number): BalanceFigures | undefined {
  const spending = spendingDays(recent).filter(({ debitBalances }) => debitBalances > 0)
  const afterDebits = spending.length > 0 ? spending : recent.filter(({ debitBalances }) => debitBalances > 0)
  const days = afterDebits.length > 0 ? afterDebits : recent.filter(({ balances }) => balances > 0)
  if (days.length === 0) return undefined
  const balances = new Float64Array(days.length)
  let [weight, sum, squares, low] = [0, 0, 0, 0]
  for (const [index, { day, debitBalances, debited, lowestAfterDebit, lowestBalance }] of days.entries()) {
    const balance = debitBalances > 0 ? lowestAfterDebit : lowestBalance
    const held = (days[index + 1]?.day ?? until + 1) - day
    balances[index] = balance
    weight += held
    sum += held * balance
    squares += held * balance * balance
    if (2 * balance < 3 * debited) low += 1
  }
  const mean = sum / weight
  balances.sort()
  return {
    lowest: balances[0]!,
    reserve: balances[Math.floor(balances.length * RESERVE_SHARE)]!,
    average: mean,
    variation: mean <= 0 ? RATIO_MAX : Math.sqrt(Math.max(0, squares / weight - mean * mean)) / mean,
    lowShare: afterDebits.length === 0 ? undefined : low / afterDebits.length,
  }
}
