import { addOlder, type BacktestCounts, resultOf } from '../core/backtest/backtest-counts.ts'
import type { BacktestResult } from '../core/backtest/backtest-result.ts'
import { lowestIdAt } from '../ids/new-id.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { CaseBounds } from '../store/queries/backtest-cases.ts'
import { BACKTEST_THREADS, BacktestThread } from './backtest-thread.ts'
import type { PolicyToExamine } from './examine-policy.ts'

/** The most decisions of one backtest. */
export const BACKTEST_DECISIONS_MAX = 100_000
/** Decisions per page: a page is about two megabytes, and takes the event loop for about three milliseconds. */
const PAGE_CASES = 500

/** Which decisions a backtest takes: the newest ones, of a period if there are bounds (`from` is included, `to` is not). */
export interface BacktestRange {
  last: number
  fromMs?: number | undefined
  toMs?: number | undefined
}

/** A backtest that its caller ended. */
export class BacktestCancelled extends Error {
  override name = 'BacktestCancelled'
}

/**
 * Decides recorded decisions again under a policy, newest first, in threads of its own; nothing is written. While the
 * threads decide pages, the database reads the next. `onProgress` is awaited after each page; if it resolves to false, the
 * backtest ends with `BacktestCancelled`.
 */
export async function runBacktest(
  store: Pick<EnvironmentStore, 'countCases' | 'recordedCases' | 'outcomesBetween'>,
  {
    organizationId,
    policy,
    range,
    onProgress = async () => true,
  }: {
    organizationId: string
    policy: PolicyToExamine
    range: BacktestRange
    onProgress?: (progress: { decided: number; total: number }) => Promise<boolean>
  },
): Promise<BacktestResult | { problem: string }> {
  const bounds = boundsOf(range)
  const total = await store.countCases(organizationId, bounds, range.last)
  const pages = Math.ceil(total / PAGE_CASES)
  const threads = Array.from({ length: Math.max(1, Math.min(pages, BACKTEST_THREADS)) }, () => new BacktestThread())
  try {
    const [begun] = await Promise.all(threads.map((thread) => thread.begin(policy)))
    if ('problem' in begun!) return begun
    const { counts } = begun!
    /** Pages that are being decided, each by another thread, in their order. */
    const deciding: Promise<BacktestCounts>[] = []
    let before = bounds.before
    for (let page = 0; page < pages; page++) {
      const limit = Math.min(PAGE_CASES, total - page * PAGE_CASES)
      const { cases, outcomes } = await readPage(store, { organizationId, bounds: { ...bounds, before }, limit })
      if (cases.length === 0) break
      if (deciding.length === threads.length) addOlder(counts, await deciding.shift()!)
      const counted = threads[page % threads.length]!.count({ cases, outcomes })
      // Awaited before the thread gets its next page; a thread that fails meanwhile must not end the process.
      counted.catch(() => {})
      deciding.push(counted)
      before = cases.at(-1)!.id
      const decided = page * PAGE_CASES + cases.length
      if (!(await onProgress({ decided, total }))) throw new BacktestCancelled()
    }
    for (const counted of deciding) addOlder(counts, await counted)
    return resultOf(counts)
  } finally {
    for (const thread of threads) thread.release()
  }
}

async function readPage(
  store: Pick<EnvironmentStore, 'recordedCases' | 'outcomesBetween'>,
  { organizationId, bounds, limit }: { organizationId: string; bounds: CaseBounds; limit: number },
) {
  const cases = await store.recordedCases(organizationId, bounds, limit)
  if (cases.length === 0) return { cases, outcomes: [] }
  const ids = { first: cases.at(-1)!.id, last: cases[0]!.id }
  return { cases, outcomes: await store.outcomesBetween(organizationId, ids) }
}

function boundsOf({ fromMs, toMs }: BacktestRange): CaseBounds {
  return {
    from: fromMs === undefined ? '' : lowestIdAt('dec', fromMs),
    before: toMs === undefined ? AFTER_ALL_DECISIONS : lowestIdAt('dec', toMs),
  }
}

/** Sorts after every id of a decision in every collation: the first character of an id is at most 7. */
const AFTER_ALL_DECISIONS = 'dec_8'
