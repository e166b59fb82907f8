import type { BacktestResult } from '../core/backtest/backtest-result.ts'
import { lowestIdAt } from '../ids/new-id.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { CaseBounds } from '../store/queries/backtest-cases.ts'
import { BacktestThread } from './backtest-thread.ts'
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
 * Decides recorded decisions again under a policy, newest first, in a thread of its own; nothing is written. While the
 * thread decides a page, the database reads the next. `onProgress` is awaited after each page; if it resolves to false,
 * the backtest ends with `BacktestCancelled`.
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
  const thread = new BacktestThread()
  try {
    const begun = await thread.begin(policy)
    if ('problem' in begun) return begun
    const bounds = boundsOf(range)
    const total = await store.countCases(organizationId, bounds, range.last)
    let deciding: Promise<void> = Promise.resolve()
    let before = bounds.before
    for (let decided = 0; decided < total; ) {
      const limit = Math.min(PAGE_CASES, total - decided)
      const page = await readPage(store, { organizationId, bounds: { ...bounds, before }, limit })
      if (page.cases.length === 0) break
      await deciding
      deciding = thread.add(page)
      // Awaited with the next page; a thread that fails meanwhile must not end the process.
      deciding.catch(() => {})
      decided += page.cases.length
      before = page.cases.at(-1)!.id
      if (!(await onProgress({ decided, total }))) throw new BacktestCancelled()
    }
    await deciding
    return await thread.result()
  } finally {
    thread.release()
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
