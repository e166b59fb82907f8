import type { ReviewedVerdict } from '../decision-standing.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import {
  addCell,
  type BacktestCounts,
  CHANGED_CASES_MAX,
  type Change,
  countTimes,
  type GroupCounts,
  noCounts,
  type SideCounts,
} from './backtest-counts.ts'
import { addEntity, type Ends } from './bad-share.ts'
import { type Ended, howItEnded, type ReportedOutcome } from './how-it-ended.ts'
import { countMonitored } from './monitored-groups.ts'
import { type RecordedCase, type Redecided, redecider, type Standing } from './redecide.ts'

/** The newest review of a decision. */
export type ReviewOfDecision = ReviewedVerdict & { decisionId: string }

/** A page of recorded decisions, newest first, with the outcome reports and the newest reviews of these decisions. */
export interface BacktestPage {
  cases: readonly RecordedCase[]
  outcomes: readonly ReportedOutcome[]
  reviews: readonly ReviewOfDecision[]
  /** Decisions from this time on are too young: their outcomes do not count. */
  matureBefore: string
}

/** Decides pages of recorded decisions again under a policy, and counts each of them. */
export function pageCounter(policy: CompiledPolicy): (page: BacktestPage) => BacktestCounts {
  const redecide = redecider(policy)
  return ({ cases, outcomes, reviews, matureBefore }) => {
    const counts = noCounts(policy)
    const rules = new Map(counts.rules.map((matches) => [matches.rule, matches]))
    const reports = Map.groupBy(outcomes, ({ decisionId }) => decisionId)
    const reviewOf = new Map(reviews.map((review) => [review.decisionId, review]))
    for (const recorded of cases) {
      const redecided = redecide(recorded, reviewOf.get(recorded.id))
      if (redecided === undefined) {
        counts.unreadable++
        continue
      }
      const isMature = recorded.created_at < matureBefore
      const { outcome, end } = howItEnded(reports.get(recorded.id) ?? [])
      // The bad end of a young decision is known before the good ends of others like it, so it counts no more than they do.
      const ended = { ...redecided, recorded, isMature, outcome, end: isMature ? end : null }
      count(counts, ended)
      for (const rule of redecided.held) {
        const matches = rules.get(rule)
        if (!matches) continue
        matches.matched++
        countEnd(matches, ended)
      }
    }
    return counts
  }
}

type EndedCase = Redecided & Ended & { recorded: RecordedCase; isMature: boolean }

function count(counts: BacktestCounts, ended: EndedCase): void {
  const { recorded, before, after, verdict, isByPerson } = ended
  counts.decided++
  if (isByPerson) counts.by_people++
  countTimes(counts, recorded.created_at, recorded.created_at)
  counts.matrix[recorded.verdict][verdict]++
  const { lossGivenDefaultPpm } = counts.settings
  countApproval(counts.before, before, lossGivenDefaultPpm)
  countApproval(counts.after, after, lossGivenDefaultPpm)
  countGroups(counts, ended)
  countMonitored(counts.monitored, ended.features, ended)
  if (recorded.verdict !== verdict) countChange(counts, ended)
}

/** Kept cases have the risk of the amount that was lent, because their outcomes are of that. */
function countGroups(counts: BacktestCounts, ended: EndedCase): void {
  const { before, after } = ended
  if (before.isApproved) {
    countObserved(after.isApproved ? counts.kept : counts.no_longer_approved, ended)
    if (ended.end !== null) addEntity(counts.observed, ended.recorded.entity_id, 1)
  } else if (after.isApproved) countExpected(counts.newly_approved, ended)
}

function countObserved(group: GroupCounts, ended: EndedCase): void {
  const { before, recorded, isMature, end } = ended
  group.approved++
  if (isMature) group.mature++
  countEnd(group, ended)
  if (end === null) return
  addEntity(group.entities, recorded.entity_id, 1)
  countRisk(group, before, end === 'bad' ? 1 : 0)
}

function countExpected(group: GroupCounts, ended: EndedCase): void {
  group.approved++
  if (ended.isMature) group.mature++
  countEnd(group, ended)
  if (ended.after.credit?.badPpm === null) group.unknown++
  if (countRisk(group, ended.after, 0)) addEntity(group.entities, ended.recorded.entity_id, 1)
}

function countRisk({ cells }: GroupCounts, { credit }: Standing, bad: number): boolean {
  if (credit === null || credit.badPpm === null) return false
  const { card, score, badPpm } = credit
  addCell(cells, { card, score, cases: 1, expectedPpm: badPpm, bad })
  return true
}

function countChange(counts: BacktestCounts, ended: EndedCase): void {
  const { recorded, verdict: after, outcome, end } = ended
  const change = counts.changes[changeOf(ended)]
  change.count++
  countEnd(change, ended)
  if (end !== null) addEntity(change.entities, recorded.entity_id, 1)
  const { id: decision_id, entity_id, created_at: decided_at, verdict: before } = recorded
  if (change.cases.length < CHANGED_CASES_MAX)
    change.cases.push({ decision_id, entity_id, decided_at, before, after, outcome })
}

function changeOf({ before, after }: EndedCase): Change {
  if (before.isApproved === after.isApproved) return 'other'
  return after.isApproved ? 'newly_approved' : 'no_longer_approved'
}

function countEnd(ends: Ends, { end }: Pick<Ended, 'end'>): void {
  if (end !== null) ends.known++
  if (end === 'bad') ends.bad++
}

function countApproval(side: SideCounts, { isApproved, credit }: Standing, lossGivenDefaultPpm: number): void {
  if (!isApproved) return
  side.approved++
  if (credit === null) return
  const { amount, badPpm } = credit
  if (amount !== null) side.amount += amount
  if (amount === null || badPpm === null) {
    side.loss_unknown++
    return
  }
  side.loss_known++
  side.expected_loss += (((amount * badPpm) / 1_000_000) * lossGivenDefaultPpm) / 1_000_000
}
