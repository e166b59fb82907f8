import { sumUnits, type Units, unitsOf } from '../units.ts'
import { type AccountTerms, holdsMoney, shareOf } from './accounts/account-terms.ts'
import { type AccountDays, ownTransfers, type TransferLegs } from './accounts/own-transfers.ts'
import { CREDITS_KEPT, DEBITS_KEPT } from './add-to-day.ts'
import { brokenBalances } from './balance-chain.ts'
import { type CircularFlows, circularFlows, type FlowDay, placeOf } from './circular-flows.ts'
import { type Credit, type DayBucket, REFUND } from './day-bucket.ts'
import { type CreditDay, type IncomeStream, incomeStreams } from './income-streams.ts'

/** Finds what no single day of the accounts in one currency shows, and notes on each day what belongs to it. */
export function analyseAccounts(accounts: readonly AccountDays[]): IncomeStream[] {
  const transfers = ownTransfers(accounts)
  const flows = flowsByDay(accounts, transfers)
  const circular = circularFlows(flows)
  for (const { days } of accounts) {
    const broken = brokenBalances(days)
    for (const [position, bucket] of days.entries()) {
      bucket.broken = broken[position]!
      noteTransfers(bucket, transfers.get(bucket))
    }
  }
  noteCircular(flows, circular)
  return incomeStreams(inShares(flows, accounts), circular)
}

/** What came in and went out on a day in all accounts, as far as it may be income or spending, with where it is from. */
interface Flows extends FlowDay {
  credits: Credit[]
  debits: Units[]
  creditsFrom: { account: number; bucket: DayBucket }[]
  debitsFrom: DayBucket[]
}

/** Only the largest of each account count, however many its days list. */
function flowsByDay(accounts: readonly AccountDays[], transfers: ReadonlyMap<DayBucket, TransferLegs>): Flows[] {
  const byDay = new Map<number, Flows>()
  for (const [account, { terms, days }] of accounts.entries()) {
    if (terms.kind === 'loan') continue
    for (const bucket of days) {
      const flows = byDay.get(bucket.day) ?? newFlows(bucket.day)
      byDay.set(bucket.day, flows)
      addFlows(flows, bucket, { account, terms, legs: transfers.get(bucket) })
    }
  }
  return accounts.length > 1 ? [...byDay.values()].sort((a, b) => a.day - b.day) : [...byDay.values()]
}

function addFlows(
  flows: Flows,
  bucket: DayBucket,
  { account, terms, legs }: { account: number; terms: AccountTerms; legs: TransferLegs | undefined },
): void {
  for (const [index, credit] of bucket.credits.entries()) {
    if (index === CREDITS_KEPT) break
    // What comes in on a card pays for it, unless it is tagged as a refund.
    if (legs?.credits.has(index) || !(holdsMoney(terms) || credit[1] === REFUND)) continue
    flows.credits.push(credit)
    flows.creditsFrom.push({ account, bucket })
  }
  for (const [index, debit] of bucket.debits.entries()) {
    if (index === DEBITS_KEPT) break
    if (legs?.debits.has(index)) continue
    flows.debits.push(debit)
    flows.debitsFrom.push(bucket)
  }
  if (holdsMoney(terms)) flows.otherCredits = sumUnits([flows.otherCredits, ...othersOf(bucket)])
}

function newFlows(day: number): Flows {
  return { day, credits: [], debits: [], otherCredits: 0, creditsFrom: [], debitsFrom: [] }
}

/** The credits of a day that are too small to be compared with debits. */
function othersOf({ credits, otherCredits }: DayBucket): Units[] {
  return [otherCredits, ...credits.slice(CREDITS_KEPT).map(([units]) => units)]
}

function noteTransfers(bucket: DayBucket, legs: TransferLegs | undefined): void {
  const at = <Item>(list: readonly Item[], places: ReadonlySet<number> | undefined) =>
    places === undefined ? [] : list.filter((_, index) => places.has(index))
  const credits = bucket.credits.map(([units]) => units)
  bucket.circularIn = 0
  bucket.circularOut = 0
  bucket.neutralIn = sumUnits(at(credits, legs?.credits))
  const taggedToLoans = legs?.taggedToLoans ?? []
  bucket.neutralOut = sumUnits([...at(bucket.debits, legs?.debits), ...taggedToLoans.map(negated)])
  const toCards = at(bucket.debits, legs?.toCards)
  bucket.toLoans = sumUnits([...at(bucket.debits, legs?.toLoans), ...taggedToLoans, ...toCards.map(negated)])
}

function negated(units: Units): Units {
  return unitsOf(-BigInt(units))
}

function noteCircular(flows: readonly Flows[], circular: CircularFlows): void {
  for (const { day, credits, debits, creditsFrom, debitsFrom } of flows) {
    for (const [index, [units, key]] of credits.entries()) {
      if (!circular.credits.has(placeOf({ day, index }))) continue
      const { bucket } = creditsFrom[index]!
      // A refund takes its purchase back, which is nothing to be wary of.
      if (key === REFUND) bucket.neutralIn = sumUnits([bucket.neutralIn, units])
      else bucket.circularIn = sumUnits([bucket.circularIn, units])
    }
    for (const [index, units] of debits.entries()) {
      const bucket = debitsFrom[index]!
      if (circular.debits.has(placeOf({ day, index }))) bucket.circularOut = sumUnits([bucket.circularOut, units])
    }
  }
}

/** The credits as far as they belong to the entity. */
function inShares(flows: readonly Flows[], accounts: readonly AccountDays[]): readonly CreditDay[] {
  const shares = accounts.map(({ terms }) => shareOf(terms))
  if (shares.every((share) => share === 1)) return flows
  return flows.map(({ day, credits, creditsFrom }) => ({
    day,
    credits: credits.map(([units, key], index): Credit => [Number(units) * shares[creditsFrom[index]!.account]!, key]),
  }))
}
