import { canonicalJson } from '../../canonical-json.ts'
import { compareText } from '../../plain-spelling.ts'
import { ownProperty } from '../../stored-json.ts'
import { UNNAMED } from '../cashflow/accounts/account-terms.ts'
import type { StatementDay } from '../cashflow/accounts/statement-balances.ts'
import type { AccountCashflow } from '../cashflow/cashflow-state.ts'
import { type DayBucket, unpackDay } from '../cashflow/day-bucket.ts'
import { holdsAllOf, isSameBalance } from './same-day.ts'

/** What several entities report of one account in a currency. */
export interface ReportedAccount {
  key: string
  reports: readonly AccountCashflow[]
}

/**
 * Finds which reports of several entities are about one account, for each currency by itself.
 *
 * Accounts of one name are one. Of an account without a name only the days tell: two such reports are about one account unless
 * they differ on most of the days that both have, and about a named account if they agree with it on most of them. Two
 * accounts taken for one could hide that one of them is overdrawn; one taken for two would have income and balance twice.
 */
export function findAccounts(flows: readonly Readonly<Record<string, AccountCashflow>>[]): ReportedAccount[] {
  const named = new Map<string, AccountCashflow[]>()
  for (const key of namesIn(flows)) {
    if (key === UNNAMED) continue
    named.set(
      key,
      flows.flatMap((accounts) => ownProperty(accounts, key) ?? []),
    )
  }
  const unnamed: AccountCashflow[] = []
  const found = new Map([...named].map(([key, reports]) => [key, [...reports]]))
  for (const accounts of flows) {
    const report = ownProperty(accounts, UNNAMED)
    if (!report) continue
    // An entity with both tells the account that it names from the one that it does not name.
    const candidates = [...named].filter(([key]) => !Object.hasOwn(accounts, key))
    const [key] = candidates.find(([, reports]) => reports.some((other) => agreeOnMostDays(report, other))) ?? []
    if (key === undefined) unnamed.push(report)
    else found.get(key)!.push(report)
  }
  return [
    ...groupUnnamed(unnamed).map((reports, index) => ({ key: unnamedKey(index), reports })),
    ...[...found].map(([key, reports]) => ({ key, reports })),
  ]
}

/** The keys of named accounts are hashes, which have no blank. */
function unnamedKey(index: number): string {
  return index === 0 ? UNNAMED : `${UNNAMED} ${index}`
}

/** Groups reports so that those of one account are together, in an order that does not depend on that of the reports. */
function groupUnnamed(reports: readonly AccountCashflow[]): AccountCashflow[][] {
  if (reports.length < 2) return reports.map((report) => [report])
  const sorted = reports
    .map((report) => ({ report, text: canonicalJson(report) }))
    .sort((a, b) => compareText(a.text, b.text))
    .map(({ report }) => [report])
  // Reports without a common day say nothing about each other, so those that agree on days are put together first.
  const agreeing = joinGroups(sorted, (one, other) =>
    one.some((report) => other.some((second) => agreeOnMostDays(report, second))),
  )
  return joinGroups(agreeing, (one, other) =>
    one.every((report) => other.every((second) => !differOnMostDays(report, second))),
  )
}

/** Puts each group to the first that it belongs to, until no two belong together. */
function joinGroups<Member>(
  groups: readonly Member[][],
  belong: (one: readonly Member[], other: readonly Member[]) => boolean,
): Member[][] {
  const joined: Member[][] = []
  for (const group of groups) {
    const same = joined.find((other) => belong(other, group))
    if (same) same.push(...group)
    else joined.push([...group])
  }
  return joined.length === groups.length ? joined : joinGroups(joined, belong)
}

function differOnMostDays(one: AccountCashflow, other: AccountCashflow): boolean {
  const { common, different } = compareReports(one, other)
  return 2 * different > common
}

function agreeOnMostDays(one: AccountCashflow, other: AccountCashflow): boolean {
  const { common, different } = compareReports(one, other)
  return common > 2 * different
}

/** On how many days both report something, and on how many of them not of the same account. */
function compareReports(one: AccountCashflow, other: AccountCashflow): { common: number; different: number } {
  const [days, otherDays] = [daysOf(one), daysOf(other)]
  let [common, different] = [0, 0]
  for (const [day, { bucket, statement }] of days) {
    const known = otherDays.get(day)
    if (!known) continue
    const isSameDay = bucket && known.bucket && (holdsAllOf(bucket, known.bucket) || holdsAllOf(known.bucket, bucket))
    const isSameStatement = statement && known.statement && isSameStatementDay(statement, known.statement)
    if (isSameDay === undefined && isSameStatement === undefined) continue
    common += 1
    if (isSameDay === false || isSameStatement === false) different += 1
  }
  return { common, different }
}

interface ReportedDay {
  bucket?: DayBucket
  statement?: StatementDay
}

function daysOf({ days, statements = [] }: AccountCashflow): Map<number, ReportedDay> {
  const byDay = new Map<number, ReportedDay>(
    days.map((packed) => [packed[0] as number, { bucket: unpackDay(packed) }] as const),
  )
  for (const statement of statements) byDay.set(statement[0], { ...byDay.get(statement[0]), statement })
  return byDay
}

function isSameStatementDay([, opening, closing]: StatementDay, [, otherOpening, otherClosing]: StatementDay): boolean {
  return isSameBalance(opening, otherOpening) && isSameBalance(closing, otherClosing)
}

/** The names in any of these records, sorted. */
export function namesIn(records: readonly object[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))].sort()
}
