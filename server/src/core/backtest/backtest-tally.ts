import { currentOutcome, type Outcome } from '../facts/outcome-course.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { type OutcomeType, VERDICTS, type Verdict } from '../vocabularies.ts'
import type {
  Approvals,
  BacktestResult,
  BadShare,
  ChangedCase,
  RuleMatches,
  SwapSet,
  VerdictMatrix,
} from './backtest-result.ts'
import { type RecordedCase, type Redecide, type Redecided, redecider } from './redecide.ts'

/** The outcome reports of a decision that count. */
export type ReportedOutcome = Outcome & { decisionId: string }

/** The most changed cases of each kind that a result lists. */
const CHANGED_CASES_MAX = 200

const BAD: readonly OutcomeType[] = ['default', 'charged_off', 'fraud_confirmed', 'access_abused']
const GOOD: readonly OutcomeType[] = ['repaid', 'settled', 'current', 'late']

/** Counts of cases with a known outcome. */
interface Ends {
  known: number
  bad: number
}

interface Side extends Ends {
  approved: number
  amount: number
  expectedLoss: number
}

/** Adds up what a policy decides on recorded decisions, page by page. */
export class BacktestTally {
  readonly #redecide: Redecide
  readonly #matrix = Object.fromEntries(
    VERDICTS.map((before) => [before, Object.fromEntries(VERDICTS.map((after) => [after, 0]))]),
  ) as VerdictMatrix
  readonly #rules: Map<string, RuleMatches>
  readonly #before: Side = { approved: 0, amount: 0, expectedLoss: 0, known: 0, bad: 0 }
  readonly #after: Side = { approved: 0, amount: 0, expectedLoss: 0, known: 0, bad: 0 }
  readonly #swaps = {
    newly_approved: { count: 0, known: 0, bad: 0 },
    no_longer_approved: { count: 0, known: 0, bad: 0 },
  }
  readonly #listed = { newly_approved: 0, no_longer_approved: 0, other: 0 }
  readonly #changedCases: ChangedCase[] = []
  #decided = 0
  #unreadable = 0
  #changed = 0
  #firstAt: string | null = null
  #lastAt: string | null = null

  constructor(policy: CompiledPolicy) {
    this.#redecide = redecider(policy)
    const ids = [...policy.rules, ...policy.afterScore].map(({ id }) => id)
    this.#rules = new Map(ids.map((rule) => [rule, { rule, matched: 0, known: 0, bad: 0 }]))
  }

  /** Decides a page of recorded decisions again and adds the results. */
  add(cases: readonly RecordedCase[], outcomes: readonly ReportedOutcome[]): void {
    const reports = Map.groupBy(outcomes, ({ decisionId }) => decisionId)
    for (const recorded of cases) {
      const redecided = this.#redecide(recorded)
      if (redecided === undefined) this.#unreadable++
      else this.#count(recorded, redecided, currentOutcome(reports.get(recorded.id) ?? [])?.type ?? null)
    }
  }

  result(): BacktestResult {
    return {
      decided: this.#decided,
      unreadable: this.#unreadable,
      first_at: this.#firstAt,
      last_at: this.#lastAt,
      matrix: this.#matrix,
      changed: this.#changed,
      before: this.#approvals(this.#before),
      after: this.#approvals(this.#after),
      newly_approved: swapSet(this.#swaps.newly_approved),
      no_longer_approved: swapSet(this.#swaps.no_longer_approved),
      rules: [...this.#rules.values()],
      changed_cases: this.#changedCases.toSorted((a, b) => (a.decision_id < b.decision_id ? 1 : -1)),
    }
  }

  #count(recorded: RecordedCase, redecided: Redecided, outcome: OutcomeType | null): void {
    const { verdict: before, created_at } = recorded
    const { verdict: after, held, badPpm, amountBefore, amountAfter } = redecided
    this.#decided++
    if (this.#firstAt === null || created_at < this.#firstAt) this.#firstAt = created_at
    if (this.#lastAt === null || created_at > this.#lastAt) this.#lastAt = created_at
    this.#matrix[before][after]++
    if (isApproval(before)) addTo(this.#before, outcome, { amount: amountBefore, badPpm })
    if (isApproval(after)) addTo(this.#after, outcome, { amount: amountAfter, badPpm })
    for (const rule of held) {
      const matches = this.#rules.get(rule)
      if (!matches) continue
      matches.matched++
      countEnd(matches, outcome)
    }
    if (before !== after) this.#countChange(recorded, after, outcome)
  }

  #countChange(
    { id, entity_id, created_at, verdict: before }: RecordedCase,
    after: Verdict,
    outcome: OutcomeType | null,
  ) {
    this.#changed++
    const kind = changeOf(before, after)
    if (kind !== 'other') {
      this.#swaps[kind].count++
      countEnd(this.#swaps[kind], outcome)
    }
    if (this.#listed[kind]++ < CHANGED_CASES_MAX)
      this.#changedCases.push({ decision_id: id, entity_id, decided_at: created_at, before, after, outcome })
  }

  #approvals({ approved, known, bad, amount, expectedLoss }: Side): Approvals {
    const rate = this.#decided === 0 ? 0 : approved / this.#decided
    return { approved, rate, outcomes: badShare({ known, bad }), amount, expected_loss: expectedLoss }
  }
}

function isApproval(verdict: Verdict): boolean {
  return verdict === 'approve' || verdict === 'approve_with_conditions'
}

function changeOf(before: Verdict, after: Verdict): 'newly_approved' | 'no_longer_approved' | 'other' {
  if (isApproval(before) === isApproval(after)) return 'other'
  return isApproval(after) ? 'newly_approved' : 'no_longer_approved'
}

function countEnd(ends: Ends, outcome: OutcomeType | null): void {
  if (outcome === null) return
  const isBad = BAD.includes(outcome)
  if (isBad || GOOD.includes(outcome)) ends.known++
  if (isBad) ends.bad++
}

/** The loss that is expected is that of the whole amount: nothing is assumed about recoveries. */
function addTo(
  side: Side,
  outcome: OutcomeType | null,
  { amount, badPpm }: { amount: number | null; badPpm: number | null },
): void {
  side.approved++
  countEnd(side, outcome)
  if (amount === null) return
  side.amount += amount
  side.expectedLoss += (amount * (badPpm ?? 0)) / 1_000_000
}

function swapSet({ count, known, bad }: Ends & { count: number }): SwapSet {
  return { count, outcomes: badShare({ known, bad }) }
}

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.96

/** The share of bad ends with its Wilson interval, which holds for few cases and for shares near 0 and 1 as well. */
export function badShare({ known, bad }: Ends): BadShare {
  if (known === 0) return { known, bad, share: null, low: null, high: null }
  const share = bad / known
  const spread = 1 + (Z * Z) / known
  const middle = (share + (Z * Z) / (2 * known)) / spread
  const half = (Z * Math.sqrt((share * (1 - share)) / known + (Z * Z) / (4 * known * known))) / spread
  return { known, bad, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}
