import { addOlder, type BacktestCounts } from '../core/backtest/backtest-counts.ts'
import type { BacktestResult } from '../core/backtest/backtest-result.ts'
import { resultOf } from '../core/backtest/summarize.ts'
import { lowestIdAt } from '../ids/new-id.ts'
import type { CaseBounds } from '../store/environment/backtest-cases.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { defineTask } from '../threads/task.ts'
import type { TaskClient, ThreadPool } from '../threads/thread-pool.ts'
import type { beginCounting, countDecisions } from './count-decisions.ts'
import type { PolicyToExamine } from './examine-policy.ts'
import { invalid } from './problem.ts'
import { runPolicyTask } from './run-policy-task.ts'

/** The most decisions of one backtest. */
export const BACKTEST_DECISIONS_MAX = 100_000
/** Decisions per page: a page is about two megabytes, and takes the event loop for about three milliseconds. */
const PAGE_CASES = 500
/** Pages on their way: one is decided while the database reads the next. */
const PAGES_AT_ONCE = 2
const DAY_MS = 86_400_000

/** A page takes about a tenth of a second under the sandbox policy. */
const BOUNDS = { lane: 'slow', budgetMs: 10_000, purpose: 'to decide a page of decisions' } as const
const MODULE = new URL('./count-decisions.ts', import.meta.url).href
const BEGIN = defineTask<typeof beginCounting>({ module: MODULE, name: 'beginCounting', ...BOUNDS })
const COUNT = defineTask<typeof countDecisions>({ module: MODULE, name: 'countDecisions', ...BOUNDS })

/** Which decisions a backtest takes: the newest ones, of a period if there are bounds (`from` is included, `to` is not). */
export interface BacktestRange {
  last: number
  fromMs?: number | undefined
  toMs?: number | undefined
  /** Only decisions with an outcome report. */
  withOutcome?: boolean
}

/** Where a backtest reads, and where it decides. */
export interface BacktestParts {
  store: { backtests: Pick<EnvironmentStore['backtests'], 'countCases' | CaseReads> }
  threads: ThreadPool
  /** Outcomes of decisions that are younger than the policy's maturity at this time do not count. */
  nowMs: number
}

type CaseReads = 'recordedCases' | 'outcomesBetween' | 'newestReviewsBetween'

/** A backtest to run. */
export interface WantedRun {
  client: TaskClient
  policy: PolicyToExamine
  range: BacktestRange
  onProgress?: (progress: { decided: number; total: number }) => Promise<boolean>
}

/** A backtest that its caller ended. */
export class BacktestCancelled extends Error {
  override name = 'BacktestCancelled'
}

/**
 * Decides recorded decisions again under a policy, newest first, page by page in a thread of the pool; nothing is written.
 * `onProgress` is awaited after each page; if it resolves to false, the backtest ends with `BacktestCancelled`.
 */
export async function runBacktest(
  { store, threads, nowMs }: BacktestParts,
  { client, policy: given, range, onProgress = async () => true }: WantedRun,
): Promise<BacktestResult> {
  const { organizationId } = client
  const bounds = boundsOf(range)
  const total = await store.backtests.countCases(organizationId, bounds, range.last)
  const begun = await runPolicyTask(threads, BEGIN, { input: given, client })
  if ('faults' in begun) throw invalid('policy_invalid', begun.faults)
  const { policy, counts } = begun
  const matureBefore = new Date(nowMs - counts.settings.maturityDays * DAY_MS).toISOString()
  /** Pages that wait or are being decided, in their order. */
  const deciding: Promise<BacktestCounts>[] = []
  let before = bounds.before
  for (let first = 0; first < total; first += PAGE_CASES) {
    const limit = Math.min(PAGE_CASES, total - first)
    const read = await readPage(store, { organizationId, bounds: { ...bounds, before }, limit })
    const page = { ...read, matureBefore }
    if (page.cases.length === 0) break
    if (deciding.length === PAGES_AT_ONCE) addOlder(counts, await deciding.shift()!)
    const counting = runPolicyTask(threads, COUNT, { input: { policy, page }, client })
    // Awaited before the page after the next; a task that fails meanwhile must not end the process.
    counting.catch(() => {})
    deciding.push(counting)
    before = page.cases.at(-1)!.id
    const decided = first + page.cases.length
    if (!(await onProgress({ decided, total }))) throw new BacktestCancelled()
  }
  for (const counting of deciding) addOlder(counts, await counting)
  return resultOf(counts)
}

async function readPage(
  store: { backtests: Pick<EnvironmentStore['backtests'], CaseReads> },
  { organizationId, bounds, limit }: { organizationId: string; bounds: CaseBounds; limit: number },
) {
  const cases = await store.backtests.recordedCases(organizationId, bounds, limit)
  if (cases.length === 0) return { cases, outcomes: [], reviews: [] }
  const ids = { first: cases.at(-1)!.id, last: cases[0]!.id }
  const [outcomes, reviews] = await Promise.all([
    store.backtests.outcomesBetween(organizationId, ids),
    store.backtests.newestReviewsBetween(organizationId, ids),
  ])
  return { cases, outcomes, reviews }
}

/** The bounds of the decisions that a backtest takes. */
export function boundsOf({ fromMs, toMs, withOutcome = false }: Omit<BacktestRange, 'last'>): CaseBounds {
  return {
    withOutcome,
    from: fromMs === undefined ? '' : lowestIdAt('dec', fromMs),
    before: toMs === undefined ? AFTER_ALL_DECISIONS : lowestIdAt('dec', toMs),
  }
}

/** Sorts after every id of a decision in every collation: the first character of an id is at most 7. */
const AFTER_ALL_DECISIONS = 'dec_8'
