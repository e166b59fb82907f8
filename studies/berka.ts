/**
 * How well the sandbox policy tells good loans from bad ones, on the PKDD'99 ("Berka") accounts of a Czech bank.
 *
 *     npm run study:berka -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]
 *
 * Each loan is requested on one day: all dates of its account move by the same number of days, and the functions behind the API
 * derive the facts and decide. The same loans are then requested on five days of that month: only the calendar differs, so the
 * verdicts should not. Then each loan is requested on each of 31 days, with what its account showed up to that day, and once with
 * its newest or oldest debit left out: who spends less should not get less. The data stays in its own folder and is never added to the project.
 */
import { parseArgs } from 'node:util'
import { VERDICTS } from '../server/src/core/vocabularies.ts'
import { rankOf } from '../server/tests/improvements.ts'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'
import { type Decided, decideLoan, type Loan, REQUESTED_ON, readLoans, withoutDebit } from './berka-loans.ts'
import { areaUnderCurve, bootstrapError, brier, kolmogorovSmirnov } from './discrimination.ts'

const DAYS_OF_MONTH = ['01', '08', '15', '22', '29']

const DAY_MS = 86_400_000
const MONTH_DAYS = 31

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { today: { type: 'string', default: REQUESTED_ON } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('usage: npm run study:berka -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]')
  process.exit(2)
}
const now = `${values.today}T12:00:00.000Z`
const policy = sandboxPolicy()
const loans = readLoans(folder)
const decided = loans.map((loan) => decideLoan(policy, loan, now))
report(decided)
reportStability(loans)
reportMonth(loans)
reportSpendingLess(decided)

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
  const steps = [...new Set(decided.map(({ evaluation }) => evaluation.trace.settled_by))].sort()
  table('settled by', steps, decided, ({ evaluation }) => evaluation.trace.settled_by)
}

/** How many verdicts and scores depend on the day of the month on which the same loan is requested. */
function reportStability(loans: readonly Loan[]): void {
  // February may have no 29th.
  const month = values.today.slice(0, 7).replace('-02', '-03')
  let [changed, contradicted, spread] = [0, 0, 0]
  for (const loan of loans) {
    const onDays = DAYS_OF_MONTH.map((day) => decideLoan(policy, loan, `${month}-${day}T12:00:00.000Z`))
    const verdicts = new Set(onDays.map(({ evaluation }) => evaluation.verdict))
    const scores = onDays.map(({ score }) => score)
    if (verdicts.size > 1) changed += 1
    if (verdicts.has('decline') && (verdicts.has('approve') || verdicts.has('approve_with_conditions')))
      contradicted += 1
    spread = Math.max(spread, Math.max(...scores) - Math.min(...scores))
  }
  console.log(`\nrequested on the ${DAYS_OF_MONTH.join(', ')} of ${month}:`)
  console.log(`${changed} of ${loans.length} loans change their verdict (${percent(changed / loans.length)})`)
  console.log(`${contradicted} get both an approval and a decline; the score moves by ${spread} points at most`)
}

/** How many loans get other verdicts if they are asked for on another day of a month, with what is known by then. */
function reportMonth(loans: readonly Loan[]): void {
  let [changed, contradicted] = [0, 0]
  for (const loan of loans) {
    const verdicts = new Set(
      Array.from({ length: MONTH_DAYS }, (_, days) => {
        const requestedAtMs = loan.requestedAtMs - days * DAY_MS
        const transactions = loan.transactions.filter(({ occurredAt }) => Date.parse(occurredAt) <= requestedAtMs)
        return decideLoan(policy, { ...loan, requestedAtMs, transactions }, now).evaluation.verdict
      }),
    )
    if (verdicts.size > 1) changed += 1
    if (verdicts.has('decline') && (verdicts.has('approve') || verdicts.has('approve_with_conditions')))
      contradicted += 1
  }
  console.log(`\nasked on each of ${MONTH_DAYS} days, with what was known by then:`)
  console.log(`${changed} of ${loans.length} loans change their verdict (${percent(changed / loans.length)})`)
  console.log(`${contradicted} get both an approval and a decline`)
}

/** How many loans get a worse verdict or less if one debit had not been made. */
function reportSpendingLess(decided: readonly Decided[]): void {
  console.log('')
  for (const which of ['newest', 'oldest'] as const) {
    const worse = decided.filter(({ loan, evaluation }) => {
      const less = decideLoan(policy, withoutDebit(loan, which), now).evaluation
      const isLower = rankOf(less.verdict) < rankOf(evaluation.verdict)
      return isLower || (less.limit ?? 0) < (evaluation.limit ?? 0)
    })
    const verdicts = worse.filter(({ loan, evaluation }) => {
      const less = decideLoan(policy, withoutDebit(loan, which), now).evaluation
      return rankOf(less.verdict) < rankOf(evaluation.verdict)
    })
    console.log(`without the ${which} debit: ${verdicts.length} get a worse verdict, ${worse.length} that or less`)
  }
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
