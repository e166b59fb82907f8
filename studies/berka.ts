/**
 * How well the sandbox policy tells good loans from bad ones, on the PKDD'99 ("Berka") accounts of a Czech bank.
 *
 *     npm run study:berka -- <folder with loans*.csv and transactions*.csv> [--today 2026-01-15]
 *
 * Each loan is requested today: all dates of its account move by the same number of days, and the functions behind the API
 * derive the facts and decide. The data stays in its own folder and is never added to the project.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { decide } from '../server/src/core/decide/decide.ts'
import type { Evaluation } from '../server/src/core/decide/evaluation.ts'
import { deriveFacts } from '../server/src/core/facts/derive-facts.ts'
import {
  applyConsent,
  applyIdentityLink,
  applyTransactions,
  type EntityState,
  emptyState,
  type TransactionFact,
} from '../server/src/core/facts/entity-state.ts'
import type { CompiledPolicy } from '../server/src/core/policy/compiled-policy.ts'
import { VERDICTS } from '../server/src/core/vocabularies.ts'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'
import { areaUnderCurve, bootstrapError, brier, kolmogorovSmirnov, type Scored } from './discrimination.ts'

const DAY_MS = 86_400_000

interface Loan {
  accountId: string
  requestedAtMs: number
  amount: number
  isBad: boolean
}

interface Decided extends Scored {
  evaluation: Evaluation
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { today: { type: 'string', default: new Date().toISOString().slice(0, 10) } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('usage: npm run study:berka -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]')
  process.exit(2)
}
const now = `${values.today}T12:00:00.000Z`
const policy = sandboxPolicy()
const transactions = transactionsByAccount(readTable(folder, 'transactions'))
const decided = readTable(folder, 'loans').map((row) => decideLoan(policy, loanOf(row)))
report(decided)

function decideLoan(policy: CompiledPolicy, loan: Loan): Decided {
  const shiftMs = Math.floor(Date.parse(now) / DAY_MS) * DAY_MS - loan.requestedAtMs
  const before = (transactions.get(loan.accountId) ?? []).map((fact) => shifted(fact, shiftMs))
  const state = applyTransactions(knownCustomer(), before)
  const request = { product: 'default', requestedAmount: loan.amount, currency: 'CZK' }
  const facts = deriveFacts({ state, entity: { type: 'person', country: 'CZ' }, request, now })
  const evaluation = decide(policy, facts)
  const { total, bad_ppm } = evaluation.trace.score
  return { evaluation, score: total, probabilityOfBad: bad_ppm / 1e6, isBad: loan.isBad }
}

/** The bank had known all applicants for months, so all of them get a verified identity and a consent. */
function knownCustomer(): EntityState {
  const verification = { status: 'verified' } as const
  const dated = { verification, createdAt: now }
  let state = applyIdentityLink(emptyState(), { identifier: { type: 'government_id', hash: 'a' }, ...dated })
  state = applyIdentityLink(state, { identifier: { type: 'bank_account', hash: 'b' }, ...dated })
  return applyConsent(state, {
    purpose: 'credit_underwriting',
    status: 'granted',
    dataCategories: [],
    grantedAt: now,
  })
}

function report(decided: readonly Decided[]): void {
  const bad = decided.filter(({ isBad }) => isBad).length
  console.log(`policy ${policy.document.version} ${policy.checksum.slice(0, 12)}, as of ${values.today}`)
  console.log(`${decided.length} loans, ${bad} bad (${percent(bad / decided.length)})\n`)
  console.log(`AUC    ${areaUnderCurve(decided).toFixed(3)} ± ${bootstrapError(decided, areaUnderCurve).toFixed(3)}`)
  console.log(`KS     ${kolmogorovSmirnov(decided).toFixed(3)}`)
  const baseRate = bad / decided.length
  console.log(
    `Brier  ${brier(decided).toFixed(4)} (predicting the base rate for every loan: ${(baseRate * (1 - baseRate)).toFixed(4)})`,
  )
  const tiers = policy.document.tiers.map(({ tier }) => tier)
  table('tier', tiers, decided, ({ evaluation }) => evaluation.tier)
  table('verdict', VERDICTS, decided, ({ evaluation }) => evaluation.verdict)
}

function table(
  title: string,
  names: readonly string[],
  decided: readonly Decided[],
  nameOf: (one: Decided) => string,
): void {
  console.log(`\n${title.padEnd(24)} loans    bad   bad rate   expected`)
  for (const name of names) {
    const members = decided.filter((one) => nameOf(one) === name)
    if (members.length === 0) continue
    const bad = members.filter(({ isBad }) => isBad).length
    const expected = members.reduce((sum, { probabilityOfBad }) => sum + probabilityOfBad, 0) / members.length
    const counts = `${String(members.length).padStart(5)}  ${String(bad).padStart(5)}`
    console.log(
      `${name.padEnd(24)} ${counts}   ${percent(bad / members.length).padStart(8)}   ${percent(expected).padStart(8)}`,
    )
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function loanOf(row: Record<string, string>): Loan {
  // A and B are ended loans, C and D running ones; B and D were not paid as agreed.
  const isBad = row.status === 'B' || row.status === 'D'
  return { accountId: row.account_id ?? '', requestedAtMs: dateMs(row.date), amount: Number(row.amount), isBad }
}

function transactionsByAccount(rows: Record<string, string>[]): Map<string, TransactionFact[]> {
  const accounts = new Map<string, TransactionFact[]>()
  for (const row of rows) {
    const facts = accounts.get(row.account_id ?? '') ?? []
    facts.push(transactionOf(row))
    accounts.set(row.account_id ?? '', facts)
  }
  return accounts
}

function transactionOf(row: Record<string, string>): TransactionFact {
  return {
    externalId: (row.trans_id ?? '').padStart(10, '0'),
    occurredAt: new Date(dateMs(row.date)).toISOString(),
    amount: Number(row.amount),
    currency: 'CZK',
    direction: row.type === 'credit' ? 'credit' : 'debit',
    balanceAfter: Number(row.balance),
  }
}

function shifted(fact: TransactionFact, shiftMs: number): TransactionFact {
  return { ...fact, occurredAt: new Date(Date.parse(fact.occurredAt) + shiftMs).toISOString() }
}

/** Dates look like 930705 (5 July 1993). */
function dateMs(text = ''): number {
  return Date.UTC(1900 + Number(text.slice(0, 2)), Number(text.slice(2, 4)) - 1, Number(text.slice(4, 6)))
}

function readTable(folder: string, prefix: string): Record<string, string>[] {
  const name = readdirSync(folder).find((file) => file.startsWith(prefix) && file.endsWith('.csv'))
  if (name === undefined) throw new Error(`there is no ${prefix}*.csv in ${folder}`)
  const [header = '', ...lines] = readFileSync(join(folder, name), 'utf8').trim().split(/\r?\n/)
  const columns = header.split(',')
  return lines.map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))
  })
}
