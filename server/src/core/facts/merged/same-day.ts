import { CREDITS_KEPT } from '../cashflow/add-to-day.ts'
import { ROUNDING } from '../cashflow/balance-chain.ts'
import type { DayBucket } from '../cashflow/day-bucket.ts'
import { compareUnits, sumUnits, type Units } from '../units.ts'

/**
 * Whether one report of a day of an account has all that another has, so that both may be about the same account. Banks differ
 * in how they name a movement, so only amounts, directions and balances are compared.
 */
export function holdsAllOf(whole: DayBucket, part: DayBucket): boolean {
  return (
    part.transactions <= whole.transactions &&
    part.debitCount <= whole.debitCount &&
    (part.transactions < whole.transactions || compareUnits(changeOf(part), changeOf(whole)) === 0) &&
    holdsMovementsOf(creditsOf(whole), creditsOf(part)) &&
    holdsMovementsOf(debitsOf(whole), debitsOf(part)) &&
    holdsMovementsOf(transfersOf(whole), transfersOf(part)) &&
    holdsBalancesOf(whole, part)
  )
}

/** By how much all transactions of a day change the balance. */
export function changeOf({ net, netWithout }: DayBucket): Units {
  return sumUnits([net, netWithout])
}

/** Whether two reports of a balance say the same; one that is not reported says nothing. */
export function isSameBalance(one: Units | null, other: Units | null): boolean {
  return one === null || other === null || Math.abs(Number(one) - Number(other)) <= ROUNDING
}

/** The movements of a day that are listed, the largest first, and whether there may be smaller ones. */
interface Movements {
  listed: readonly Units[]
  hasOthers: boolean
}

function creditsOf({ credits, otherCredits }: DayBucket): Movements {
  return { listed: credits.map(([units]) => units), hasOthers: otherCredits !== 0 }
}

function debitsOf({ debits, otherDebits }: DayBucket): Movements {
  return { listed: debits, hasOthers: otherDebits !== 0 }
}

function transfersOf({ transfers }: DayBucket): Movements {
  return { listed: transfers, hasOthers: transfers.length >= CREDITS_KEPT }
}

function holdsMovementsOf(whole: Movements, part: Movements): boolean {
  const left = whole.listed.map(Number)
  const smallest = whole.hasOthers ? Math.min(...left.map(Math.abs)) : 0
  return part.listed.map(Number).every((amount) => {
    const place = left.indexOf(amount)
    if (place >= 0) left.splice(place, 1)
    return place >= 0 || Math.abs(amount) <= smallest
  })
}

/** The lowest of all balances is at most the lowest of some of them, and the same if both reports have all. */
function holdsBalancesOf(whole: DayBucket, part: DayBucket): boolean {
  if (part.balances === 0 || whole.balances < whole.transactions) return true
  const above = Number(part.lowestBalance) - Number(whole.lowestBalance)
  return above >= -ROUNDING && (part.balances < whole.balances || above <= ROUNDING)
}
