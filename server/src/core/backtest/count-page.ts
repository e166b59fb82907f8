import { currentOutcome, type Outcome } from '../facts/outcome-course.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { OutcomeType, Verdict } from '../vocabularies.ts'
import {
  type BacktestCounts,
  CHANGED_CASES_MAX,
  type Change,
  countTimes,
  noCounts,
  type SideCounts,
} from './backtest-counts.ts'
import type { Ends } from './bad-share.ts'
import { type RecordedCase, type Redecided, redecider } from './redecide.ts'

/** The outcome reports of a decision that count. */
export type ReportedOutcome = Outcome & { decisionId: string }

/** A page of recorded decisions, newest first, with the outcome reports of these decisions. */
export interface BacktestPage {
  cases: readonly RecordedCase[]
  outcomes: readonly ReportedOutcome[]
}

/** How a credit ended with an outcome, or is going; null if the outcome does not say. */
const ENDS: Readonly<Record<OutcomeType, 'good' | 'bad' | null>> = {
  funded: null,
  current: 'good',
  late: 'good',
  default: 'bad',
  charged_off: 'bad',
  repaid: 'good',
  settled: 'good',
  fraud_confirmed: 'bad',
  access_abused: 'bad',
  closed: null,
}

/** Decides pages of recorded decisions again under a policy, and counts each of them. */
export function pageCounter(policy: CompiledPolicy): (page: BacktestPage) => BacktestCounts {
  const redecide = redecider(policy)
  return ({ cases, outcomes }) => {
    const counts = noCounts(policy)
    const rules = new Map(counts.rules.map((matches) => [matches.rule, matches]))
    const reports = Map.groupBy(outcomes, ({ decisionId }) => decisionId)
    for (const recorded of cases) {
      const redecided = redecide(recorded)
      if (redecided === undefined) {
        counts.unreadable++
        continue
      }
      const outcome = currentOutcome(reports.get(recorded.id) ?? [])?.type ?? null
      count(counts, recorded, { ...redecided, outcome })
      for (const rule of redecided.held) {
        const matches = rules.get(rule)
        if (!matches) continue
        matches.matched++
        countEnd(matches, outcome)
      }
    }
    return counts
  }
}

type Ended = Redecided & { outcome: OutcomeType | null }

function count(counts: BacktestCounts, recorded: RecordedCase, ended: Ended): void {
  const { verdict: before, created_at } = recorded
  const { verdict: after, badPpm, amountBefore, amountAfter, outcome } = ended
  counts.decided++
  countTimes(counts, created_at, created_at)
  counts.matrix[before][after]++
  if (isApproval(before)) countApproval(counts.before, outcome, { amount: amountBefore, badPpm })
  if (isApproval(after)) countApproval(counts.after, outcome, { amount: amountAfter, badPpm })
  if (before === after) return
  const change = counts.changes[changeOf(before, after)]
  change.count++
  countEnd(change, outcome)
  const { id: decision_id, entity_id } = recorded
  if (change.cases.length < CHANGED_CASES_MAX)
    change.cases.push({ decision_id, entity_id, decided_at: created_at, before, after, outcome })
}

function isApproval(verdict: Verdict): boolean {
  return verdict === 'approve' || verdict === 'approve_with_conditions'
}

function changeOf(before: Verdict, after: Verdict): Change {
  if (isApproval(before) === isApproval(after)) return 'other'
  return isApproval(after) ? 'newly_approved' : 'no_longer_approved'
}

function countEnd(ends: Ends, outcome: OutcomeType | null): void {
  const end = outcome && ENDS[outcome]
  if (end) ends.known++
  if (end === 'bad') ends.bad++
}

/** The loss that is expected is that of the whole amount: nothing is assumed about recoveries. */
function countApproval(
  side: SideCounts,
  outcome: OutcomeType | null,
  { amount, badPpm }: { amount: number | null; badPpm: number | null },
): void {
  side.approved++
  countEnd(side, outcome)
  if (amount === null) return
  side.amount += amount
  side.expected_loss += (amount * (badPpm ?? 0)) / 1_000_000
}
