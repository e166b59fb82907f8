import { type DayBucket, REFUND } from '../day-bucket.ts'
import { type AccountTerms, holdsMoney } from './account-terms.ts'

/** The days of one account in one currency, oldest first. */
export interface AccountDays {
  terms: AccountTerms
  days: readonly DayBucket[]
}

/** The movements of a day that are legs of own transfers, by their place in the lists of the day. */
export interface TransferLegs {
  credits: Set<number>
  debits: Set<number>
  /** Debits that were paid to a loan on file: they stay spending, and repay the loan. */
  toLoans: Set<number>
  /** Debits that looked like loan repayments and were paid to a card on file, whose purchases are the spending. */
  toCards: Set<number>
  /** The amounts of debits that are tagged as transfers and were paid to a loan on file: they are spending after all. */
  taggedToLoans: number[]
}

/** One side of a possible transfer. */
interface Leg {
  account: number
  bucket: DayBucket
  amount: number
  /** Its place in the credits or debits of its day; undefined if it is tagged as a transfer, and so in neither. */
  index: number | undefined
  isRepayment: boolean
}

const DAYS_APART_MAX = 3

/**
 * Finds transfers between the accounts of an entity: the same amount out of one account and into another within three days.
 * The legs that are closest in time belong together; legs that are tagged are matched with each other first.
 */
export function ownTransfers(accounts: readonly AccountDays[]): Map<DayBucket, TransferLegs> {
  const found = new Map<DayBucket, TransferLegs>()
  if (accounts.length < 2) return found
  const [out, into] = [legsOf(accounts, outOfDay), legsOf(accounts, intoDay)]
  const taken = new Set<Leg>()
  for (const isTagged of [true, false]) {
    const candidates = isTagged ? into.filter(({ index }) => index === undefined) : into
    const byPlace = Map.groupBy(candidates, ({ bucket, amount }) => placeOf(bucket.day, amount))
    for (const apart of DISTANCES) {
      for (const leg of out) {
        if (taken.has(leg) || (isTagged && leg.index !== undefined)) continue
        const others = byPlace.get(placeOf(leg.bucket.day + apart, leg.amount)) ?? []
        const other = others.find((one) => !taken.has(one) && areLegs(leg, one, accounts))
        if (other === undefined) continue
        taken.add(leg).add(other)
        noteLegs(found, { out: leg, into: other, isLoan: accounts[other.account]!.terms.kind === 'loan' })
      }
    }
  }
  return found
}

/** By how many days the money arrives later; of two equal distances, later comes first. */
const DISTANCES: readonly number[] = [0, ...Array.from({ length: DAYS_APART_MAX }, (_, index) => index + 1)].flatMap(
  (days) => (days === 0 ? [0] : [days, -days]),
)

/** A loan is not repaid by a transfer to an account that holds money, even if the amounts are equal. */
function areLegs(out: Leg, into: Leg, accounts: readonly AccountDays[]): boolean {
  return out.account !== into.account && !(out.isRepayment && holdsMoney(accounts[into.account]!.terms))
}

function noteLegs(
  found: Map<DayBucket, TransferLegs>,
  { out, into, isLoan }: { out: Leg; into: Leg; isLoan: boolean },
): void {
  if (into.index !== undefined) legsOfDay(found, into.bucket).credits.add(into.index)
  const legs = legsOfDay(found, out.bucket)
  if (out.index === undefined) {
    if (isLoan) legs.taggedToLoans.push(out.amount)
    return
  }
  if (!isLoan) legs.debits.add(out.index)
  if (isLoan && !out.isRepayment) legs.toLoans.add(out.index)
  if (!isLoan && out.isRepayment) legs.toCards.add(out.index)
}

function legsOfDay(found: Map<DayBucket, TransferLegs>, bucket: DayBucket): TransferLegs {
  const legs = found.get(bucket) ?? noLegs()
  found.set(bucket, legs)
  return legs
}

function noLegs(): TransferLegs {
  return { credits: new Set(), debits: new Set(), toLoans: new Set(), toCards: new Set(), taggedToLoans: [] }
}

function legsOf(
  accounts: readonly AccountDays[],
  legsOfBucket: (bucket: DayBucket) => Omit<Leg, 'account' | 'bucket'>[],
) {
  return accounts.flatMap(({ days }, account) =>
    days.flatMap((bucket) => legsOfBucket(bucket).map((leg): Leg => ({ account, bucket, ...leg }))),
  )
}

function outOfDay({ debits, repayments, transfers }: DayBucket): Omit<Leg, 'account' | 'bucket'>[] {
  const left = [...repayments]
  const untagged = debits.map((units, index) => {
    const place = left.indexOf(units)
    if (place >= 0) left.splice(place, 1)
    return { amount: Number(units), index, isRepayment: place >= 0 }
  })
  const tagged = transfers.filter((units) => Number(units) < 0).map((units) => taggedLeg(-Number(units)))
  return [...untagged, ...tagged]
}

function intoDay({ credits, transfers }: DayBucket): Omit<Leg, 'account' | 'bucket'>[] {
  const untagged = credits.flatMap(([units, key], index) =>
    key === REFUND ? [] : [{ amount: Number(units), index, isRepayment: false }],
  )
  const tagged = transfers.filter((units) => Number(units) > 0).map((units) => taggedLeg(Number(units)))
  return [...untagged, ...tagged]
}

function taggedLeg(amount: number) {
  return { amount, index: undefined, isRepayment: false }
}

function placeOf(day: number, amount: number): string {
  return `${day} ${amount}`
}
