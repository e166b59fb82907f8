import { ownProperty } from '../../../stored-json.ts'
import type { AccountCashflow, CurrencyCashflow } from '../cashflow-state.ts'
import type { ProvidedCounts } from '../data-providers.ts'
import { type DayBucket, unpackDay } from '../day-bucket.ts'
import { type DayFigures, dayFigures } from '../day-figures.ts'
import { type AccountsByKey, type AccountTerms, holdsMoney, shareOf } from './account-terms.ts'
import { dayEnds } from './statement-balances.ts'

/** What the facts read of one account. */
export interface AccountFigures {
  terms: AccountTerms
  /** Its days, oldest first; a statement tells balances that no transaction reports. */
  days: readonly DayFigures[]
  /** How many balances could be checked, and how many of them do not follow from the one before. */
  checked: number
  broken: number
  provided: ProvidedCounts
  /** The balance that is known last. */
  lastBalance: number | undefined
}

/** The accounts of an entity in one currency, each for itself and all together. */
export interface CombinedAccounts {
  accounts: readonly AccountFigures[]
  /** Income and spending of all accounts by day, and the balance of those that hold money, as far as they are the entity's. */
  days: readonly DayFigures[]
}

/** The days after the first and up to the second. */
export interface DayRange {
  after: number
  until: number
}

/** Puts the accounts of a currency together over some days. */
export function combineAccounts(
  { accounts }: CurrencyCashflow,
  { terms, range }: { terms: AccountsByKey; range: DayRange },
): CombinedAccounts {
  const entries = Object.entries(accounts)
  if (entries.length === 1) {
    const [[key, account]] = entries as [[string, AccountCashflow]]
    const known = ownProperty(terms, key) ?? NO_TERMS
    // Nearly every account is alone; nothing of it has to be put together.
    if (!account.statements && shareOf(known) === 1 && holdsMoney(known)) {
      const alone = figuresAlone(account, known, range)
      return { accounts: [alone], days: alone.days }
    }
  }
  const open = entries.map(([key, account]) => openAccount(account, ownProperty(terms, key) ?? NO_TERMS, range))
  const numbers = new Set(open.flatMap(({ figures }) => [...figures.keys()]))
  const days = [...numbers].sort((a, b) => a - b).map((day) => combineDay(day, open))
  return { accounts: open, days }
}

const NO_TERMS: AccountTerms = {}

function figuresAlone({ days, lastBalance }: AccountCashflow, terms: AccountTerms, range: DayRange): AccountFigures {
  const figures: DayFigures[] = []
  let [checked, broken] = [0, 0]
  const provided = { ...NOT_PROVIDED }
  for (const packed of days) {
    if (!isIn(packed[0] as number, range)) continue
    const bucket = unpackDay(packed)
    const day = dayFigures(bucket)
    figures.push(day)
    countProvided(provided, bucket)
    checked += day.balances
    broken += day.broken
  }
  const balance = lastBalance ? Number(lastBalance.units) : undefined
  return { terms, days: figures, checked, broken, provided, lastBalance: balance }
}

const NOT_PROVIDED: ProvidedCounts = { transactions: 0, fromApplicant: 0, fromOthers: 0 }

function countProvided(provided: ProvidedCounts, { transactions, fromApplicant, fromOthers }: DayBucket): void {
  provided.transactions += transactions
  provided.fromApplicant += fromApplicant
  provided.fromOthers += fromOthers
}

/** An account that is put together with others. */
interface OpenAccount extends AccountFigures {
  share: number
  figures: ReadonlyMap<number, DayFigures>
  ends: readonly (readonly [day: number, balance: number])[]
  /** How many of `ends` lie on the day that is put together, or before it. */
  reached: number
}

function openAccount(account: AccountCashflow, terms: AccountTerms, range: DayRange): OpenAccount {
  const { statements = [], lastBalance } = account
  const all = account.days.map(unpackDay)
  const buckets = all.filter(({ day }) => isIn(day, range))
  const { balances, compared, broken } = dayEnds(all, statements)
  const days = buckets.map((bucket) =>
    statements.length > 0 ? withEnd(bucket, balances.get(bucket.day)) : dayFigures(bucket),
  )
  const provided = { ...NOT_PROVIDED }
  for (const bucket of buckets) countProvided(provided, bucket)
  const last = lastBalance ? Number(lastBalance.units) : undefined
  return {
    terms,
    days,
    checked: buckets.reduce((sum, bucket) => sum + bucket.balances, compared),
    broken: buckets.reduce((sum, bucket) => sum + bucket.broken, broken),
    provided,
    lastBalance: statements.length > 0 ? [...balances.values()].at(-1) : last,
    share: shareOf(terms),
    figures: new Map(days.map((day) => [day.day, day])),
    ends: [...balances],
    reached: 0,
  }
}

/** The figures of a day whose transactions do not all report a balance, with the one at its end. */
function withEnd(bucket: DayBucket, end: number | undefined): DayFigures {
  const figures = dayFigures(bucket)
  if (end === undefined || bucket.balances === bucket.transactions) return figures
  const { balances, debits, debitBalances, lowestBalance, lowestAfterDebit } = figures
  return {
    ...figures,
    balances: Math.max(1, balances),
    lowestBalance: balances > 0 ? Math.min(lowestBalance, end) : end,
    debitBalances: debits,
    debited: Math.max(figures.debited, figures.outflow),
    lowestAfterDebit: debitBalances > 0 ? Math.min(lowestAfterDebit, end) : end,
  }
}

// Savings that pay interest every quarter report a balance that often. An older one may long be spent.
const HELD_DAYS_MAX = 100

/** Adds up a day of all accounts. An account without a transaction on it still holds what it held. */
function combineDay(day: number, accounts: readonly OpenAccount[]): DayFigures {
  const sum = { ...NOTHING, day }
  for (const account of accounts) {
    while ((account.ends[account.reached]?.[0] ?? Number.POSITIVE_INFINITY) <= day) account.reached += 1
    const figures = account.figures.get(day)
    if (figures) addFlows(sum, figures, account)
    if (!holdsMoney(account.terms)) continue
    if (figures) sum.balances += figures.balances
    if (figures) sum.debitBalances += figures.debitBalances
    const held = heldOn(day, account)
    const { balances = 0, lowestBalance = 0, debitBalances = 0, lowestAfterDebit = 0 } = figures ?? {}
    sum.lowestBalance += account.share * (balances > 0 ? lowestBalance : held)
    sum.lowestAfterDebit += account.share * (debitBalances > 0 ? lowestAfterDebit : held)
  }
  // What went to another account on file is still there, so only spending counts as taken.
  sum.debited = sum.outflow
  return sum
}

const NOTHING: Omit<DayFigures, 'day'> = {
  income: 0,
  hasIncome: false,
  circularIn: 0,
  outflow: 0,
  hasOutflow: false,
  repaid: 0,
  circularOut: 0,
  debits: 0,
  returned: 0,
  balances: 0,
  lowestBalance: 0,
  broken: 0,
  debitBalances: 0,
  debited: 0,
  lowestAfterDebit: 0,
}

/** What comes in on a card or a loan pays it back, and what goes out of a loan was lent: neither is income nor spending. */
function addFlows(sum: DayFigures, figures: DayFigures, { terms, share }: OpenAccount): void {
  sum.returned += figures.returned
  if (terms.kind === 'loan') return
  sum.debits += figures.debits
  sum.outflow += share * figures.outflow
  sum.hasOutflow ||= figures.hasOutflow
  sum.repaid += share * figures.repaid
  sum.circularOut += share * figures.circularOut
  if (terms.kind === 'card') return
  sum.income += share * figures.income
  sum.hasIncome ||= figures.hasIncome
  sum.circularIn += share * figures.circularIn
}

function heldOn(day: number, { ends, reached }: OpenAccount): number {
  const last = ends[reached - 1]
  return last && day - last[0] <= HELD_DAYS_MAX ? last[1] : 0
}

function isIn(day: number, { after, until }: DayRange): boolean {
  return day > after && day <= until
}
