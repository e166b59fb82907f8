import type { BacktestResult } from '../core/backtest/backtest-result.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'
import type { StoredPolicy } from '../store/environment/policies.ts'
import { conflict } from './problem.ts'

/** Refuses a policy that sets limits to its backtests, and has no backtest or one that breaks a limit. */
export function requireWithinLimits(
  { version, document }: Pick<StoredPolicy, 'version' | 'document'>,
  backtest: { id: string; result: string } | undefined,
): void {
  const { portfolio } = JSON.parse(document) as PolicyDocument
  if (Object.keys(portfolio?.backtest_limits ?? {}).length === 0) return
  if (backtest === undefined)
    throw conflict('backtest_required', `${version} sets limits to its backtests, and has no backtest yet.`)
  const { limits } = JSON.parse(backtest.result) as BacktestResult
  const broken = limits.filter(({ is_kept }) => !is_kept).map(({ words }) => words)
  if (broken.length > 0)
    throw conflict(
      'backtest_limit_broken',
      `The backtest ${backtest.id} of ${version} breaks ${broken.length === 1 ? 'a limit' : 'limits'} of the policy: ${broken.join('; ')}.`,
    )
}
