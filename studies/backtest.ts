/**
 * Whether the headline of a backtest holds the true bad rate of a looser policy, on the PKDD'99 ("Berka") accounts of a Czech bank.
 *
 *     npm run study:backtest -- <folder with loans*.csv and transactions*.csv> [--lower 70] [--today YYYY-MM-DD]
 *
 * The policy decides every loan, and the outcomes of those that it declines or sends to a person are hidden, as they would be
 * at a lender. A proposal with a lower cutoff is backtested on these decisions, and what the headline expects is compared with
 * the hidden outcomes. The table of the policy was itself fitted to these loans, which flatters its probabilities. So the
 * proposal is also backtested with its table moved by some points, as if the portfolio were another one.
 * The data stays in its own folder and is never added to the project.
 */
import { parseArgs } from 'node:util'
import { addOlder, noCounts } from '../server/src/core/backtest/backtest-counts.ts'
import type { BacktestResult, Estimate } from '../server/src/core/backtest/backtest-result.ts'
import { pageCounter } from '../server/src/core/backtest/count-page.ts'
import type { RecordedCase } from '../server/src/core/backtest/redecide.ts'
import { resultOf } from '../server/src/core/backtest/summarize.ts'
import { canonicalJson } from '../server/src/core/canonical-json.ts'
import { editedPolicy } from '../server/tests/edited-policy.ts'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'
import { type Decided, decideLoan, REQUESTED_ON, readLoans } from './berka-loans.ts'

/** How far the table of the proposal is moved, in points. */
const MOVED = [0, -40, -20, 20, 40] as const

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { lower: { type: 'string', default: '70' }, today: { type: 'string', default: REQUESTED_ON } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('usage: npm run study:backtest -- <folder with loans*.csv and transactions*.csv> [--lower 70]')
  process.exit(2)
}
const lower = Number(values.lower)
const now = `${values.today}T12:00:00.000Z`
const policy = sandboxPolicy()
const decided = readLoans(folder).map((loan) => decideLoan(policy, loan, now))
const cases = decided.map(recordedCase)
const isBad = new Map(cases.map(({ id }, index) => [id, decided[index]!.isBad]))

const approved = cases.filter(isApproved)
console.log(`policy ${policy.document.version} ${policy.checksum.slice(0, 12)}, as of ${values.today}`)
console.log(
  `${cases.length} loans, ${approved.length} approved, the outcomes of ${cases.length - approved.length} hidden`,
)
console.log(`cutoff ${policy.document.verdicts.cutoff}, proposed ${policy.document.verdicts.cutoff - lower}`)
for (const points of MOVED) report(points)

function report(points: number): void {
  const result = backtested(points)
  const { headline, after } = result
  const approvedAfter = new Set(approvedUnder(points))
  const added = [...approvedAfter].filter((id) => !approved.some((one) => one.id === id))
  const moved = points === 0 ? 'the table of the policy' : `the table of the policy, moved by ${points} points`
  console.log(`\n${moved}: ${after.approved} approved, ${added.length} of them newly; ${headline.change}`)
  console.log('                      headline (95 % interval)     true    held   by the table alone')
  line('newly approved', headline.newly_approved.expected, badAmong(added), headline.newly_approved.by_table)
  line('all approved', headline.together, badAmong([...approvedAfter]), null)
  const difference = badAmong([...approvedAfter]) - badAmong(approved.map(({ id }) => id))
  line('difference', headline.difference, difference, null)
}

function line(name: string, { share, low, high }: Estimate, truth: number, byTable: number | null): void {
  const holds = low! <= truth && truth <= high!
  const interval = `${percent(share!)} (${percent(low!)} to ${percent(high!)})`
  const table = byTable === null ? '' : percent(byTable)
  console.log(
    `${name.padEnd(20)}  ${interval.padEnd(26)} ${percent(truth).padStart(7)}    ${holds ? 'yes ' : 'NO  '}   ${table}`,
  )
}

/** The result of a backtest of the proposal that knows the outcomes of approved loans alone. */
function backtested(points: number): BacktestResult {
  const proposed = proposal(points)
  const outcomes = approved.map(({ id }) => ({
    id: `out_${id}`,
    decisionId: id,
    type: isBad.get(id) ? ('default' as const) : ('repaid' as const),
    occurredAt: now,
    daysPastDue: null,
  }))
  const counts = noCounts(proposed)
  const matureBefore = new Date(Date.parse(now) + 86_400_000).toISOString()
  addOlder(counts, pageCounter(proposed)({ cases, outcomes, reviews: [], matureBefore }))
  return resultOf(counts)
}

function approvedUnder(points: number): string[] {
  const proposed = proposal(points)
  return decided.flatMap(({ loan }, index) => {
    const { verdict } = decideLoan(proposed, loan, now).evaluation
    return isApproved({ verdict }) ? [cases[index]!.id] : []
  })
}

function proposal(points: number) {
  return editedPolicy(({ verdicts, scorecard }) => ({
    verdicts: { ...verdicts, cutoff: verdicts.cutoff - lower },
    scorecard: { ...scorecard, calibration_points: (scorecard.calibration_points ?? 0) + points },
  }))
}

function recordedCase({ evaluation, facts, loan }: Decided, index: number): RecordedCase {
  return {
    id: `dec_${String(index).padStart(4, '0')}`,
    entity_id: `ent_${index}`,
    verdict: evaluation.verdict,
    created_at: now,
    requested_amount: loan.amount,
    recommended_limit: evaluation.limit,
    facts: canonicalJson(facts),
  }
}

function isApproved({ verdict }: { verdict: string }): boolean {
  return verdict === 'approve' || verdict === 'approve_with_conditions'
}

function badAmong(ids: readonly string[]): number {
  return ids.filter((id) => isBad.get(id)).length / ids.length
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
