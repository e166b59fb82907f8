import { runBacktest } from '../../server/src/admin/run-backtest.ts'
import type { BacktestResult } from '../../server/src/core/backtest/backtest-result.ts'
import { compileStoredPolicy } from '../../server/src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../../server/src/core/policy/compile/compiled-policy.ts'
import type { Database } from '../../server/src/store/database/database.ts'
import { backtestCaseQueries } from '../../server/src/store/environment/backtest-cases.ts'
import { ThreadPool } from '../../server/src/threads/thread-pool.ts'

/** Kept between runs, as the service keeps its own. */
const threads = new ThreadPool()

/** A stored policy as it is read. */
export interface StoredDocument {
  document: string
  checksum: string
}

/** Decides the newest recorded decisions of an organization again, as `policy backtest` does. */
export async function backtestAll(
  database: Database,
  { organizationId, policy, last }: { organizationId: string; policy: StoredDocument; last: number },
): Promise<BacktestResult> {
  const { document, checksum } = policy
  const parts = { store: { backtests: backtestCaseQueries(database) }, threads, nowMs: Date.now() }
  return runBacktest(parts, { client: { organizationId }, policy: { document, checksum }, range: { last } })
}

/** Reads the policy of the sandbox. */
export async function readPolicy(database: Database): Promise<StoredDocument> {
  const [row] = await database.query<{ document: string; checksum: string }>('SELECT document, checksum FROM policies')
  return row!
}

/** Compiles a stored policy. */
export function compiled(policy: StoredDocument): CompiledPolicy {
  const result = compileStoredPolicy(policy)
  if (!('policy' in result)) throw new Error(`the recorded policy ${policy.checksum} does not compile`)
  return result.policy
}
