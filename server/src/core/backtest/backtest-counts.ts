import { type CompiledPolicy, ruleIdsOf } from '../policy/compile/compiled-policy.ts'
import { VERDICTS } from '../vocabularies.ts'
import type { Approvals, BacktestResult, ChangedCase, RuleMatches, SwapSet, VerdictMatrix } from './backtest-result.ts'
import { badShare, type Ends } from './bad-share.ts'

/** The most changed cases of each kind that a result lists. */
export const CHANGED_CASES_MAX = 200

/** How a decision changes. */
export type Change = 'newly_approved' | 'no_longer_approved' | 'other'

/** The approvals of one side. */
export interface SideCounts extends Ends {
  approved: number
  amount: number
  expected_loss: number
}

/** How many decisions change in one way. */
export interface ChangeCounts extends Ends {
  count: number
  /** The newest of them. */
  cases: ChangedCase[]
}

/**
 * What a policy decides on some recorded decisions, as plain data: threads count pages, which are added up in the order of
 * the pages. So the sums are the same to the last digit, however many threads there are.
 */
export interface BacktestCounts {
  decided: number
  unreadable: number
  first_at: string | null
  last_at: string | null
  /** The reference currency of the policy; null if none of its currencies is. */
  currency: string | null
  matrix: VerdictMatrix
  before: SideCounts
  after: SideCounts
  changes: Record<Change, ChangeCounts>
  rules: RuleMatches[]
}

/** Counts of no decisions. */
export function noCounts(policy: CompiledPolicy): BacktestCounts {
  const { document } = policy
  const noSide = (): SideCounts => ({ approved: 0, amount: 0, expected_loss: 0, known: 0, bad: 0 })
  const noChange = (): ChangeCounts => ({ count: 0, cases: [], known: 0, bad: 0 })
  const noVerdicts = () => Object.fromEntries(VERDICTS.map((after) => [after, 0]))
  return {
    decided: 0,
    unreadable: 0,
    first_at: null,
    last_at: null,
    currency: document.limit.currencies.find(({ per_reference }) => per_reference === 1)?.currency ?? null,
    matrix: Object.fromEntries(VERDICTS.map((before) => [before, noVerdicts()])) as VerdictMatrix,
    before: noSide(),
    after: noSide(),
    changes: { newly_approved: noChange(), no_longer_approved: noChange(), other: noChange() },
    rules: ruleIdsOf(policy).map((rule) => ({ rule, matched: 0, known: 0, bad: 0 })),
  }
}

/** Adds the counts of older decisions under the same policy. */
export function addOlder(counts: BacktestCounts, older: BacktestCounts): void {
  counts.decided += older.decided
  counts.unreadable += older.unreadable
  if (older.first_at !== null) countTimes(counts, older.first_at, older.last_at!)
  for (const before of VERDICTS)
    for (const after of VERDICTS) counts.matrix[before][after] += older.matrix[before][after]
  addSide(counts.before, older.before)
  addSide(counts.after, older.after)
  addChange(counts.changes.newly_approved, older.changes.newly_approved)
  addChange(counts.changes.no_longer_approved, older.changes.no_longer_approved)
  addChange(counts.changes.other, older.changes.other)
  for (const [index, rule] of counts.rules.entries()) {
    rule.matched += older.rules[index]!.matched
    addEnds(rule, older.rules[index]!)
  }
}

/** Counts decisions that were made from `first` to `last`. */
export function countTimes(counts: BacktestCounts, first: string, last: string): void {
  if (counts.first_at === null || first < counts.first_at) counts.first_at = first
  if (counts.last_at === null || last > counts.last_at) counts.last_at = last
}

function addSide(side: SideCounts, older: SideCounts): void {
  side.approved += older.approved
  side.amount += older.amount
  side.expected_loss += older.expected_loss
  addEnds(side, older)
}

function addChange(change: ChangeCounts, older: ChangeCounts): void {
  change.count += older.count
  change.cases.push(...older.cases.slice(0, CHANGED_CASES_MAX - change.cases.length))
  addEnds(change, older)
}

function addEnds(ends: Ends, older: Ends): void {
  ends.known += older.known
  ends.bad += older.bad
}

/** The result of a backtest. */
export function resultOf({ changes, before, after, ...counts }: BacktestCounts): BacktestResult {
  const { decided, unreadable, first_at, last_at, currency, matrix, rules } = counts
  const all = Object.values(changes)
  return {
    decided,
    unreadable,
    first_at,
    last_at,
    currency,
    matrix,
    changed: all.reduce((sum, { count }) => sum + count, 0),
    before: approvals(before, decided),
    after: approvals(after, decided),
    newly_approved: swapSet(changes.newly_approved),
    no_longer_approved: swapSet(changes.no_longer_approved),
    rules,
    changed_cases: all.flatMap(({ cases }) => cases).sort((a, b) => (a.decision_id < b.decision_id ? 1 : -1)),
  }
}

function approvals({ approved, known, bad, amount, expected_loss }: SideCounts, decided: number): Approvals {
  const rate = decided === 0 ? 0 : approved / decided
  return { approved, rate, outcomes: badShare({ known, bad }), amount, expected_loss }
}

function swapSet({ count, known, bad }: ChangeCounts): SwapSet {
  return { count, outcomes: badShare({ known, bad }) }
}
