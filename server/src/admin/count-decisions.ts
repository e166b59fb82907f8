/** Decides recorded decisions again in a thread of the pool: pages come in, their counts go out. */
import { type BacktestCounts, noCounts } from '../core/backtest/backtest-counts.ts'
import { type BacktestPage, pageCounter } from '../core/backtest/count-page.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import { describeProblem } from '../core/policy/check/policy-problem.ts'
import { parsePolicy } from '../core/policy/parse-policy.ts'
import { compileInThread } from '../underwriting/compiled-policies.ts'
import type { FaultyPolicy, PolicyToExamine } from './examine-policy.ts'

/** A policy that decides again, as it is or would be stored. */
export interface DecidingPolicy {
  document: string
  checksum: string
}

/** The policy of a backtest with the counts of no decisions; or why it does not compile. */
export function beginCounting(
  policy: PolicyToExamine,
): { policy: DecidingPolicy; counts: BacktestCounts } | FaultyPolicy {
  const compiled = 'source' in policy ? parsePolicy(policy.source) : compileInThread(policy)
  if ('altered' in compiled) return { faults: 'Its document is not the one that was proposed.' }
  if ('problems' in compiled) return { faults: compiled.problems.map(describeProblem).join('\n') }
  const { document, checksum } = compiled.policy
  const stored = 'source' in policy ? { document: canonicalJson(document), checksum } : policy
  return { policy: stored, counts: noCounts(compiled.policy) }
}

/** Counts a page of decisions under a policy that `beginCounting` gave. */
export function countDecisions({ policy, page }: { policy: DecidingPolicy; page: BacktestPage }): BacktestCounts {
  const compiled = compileInThread(policy)
  if (!('policy' in compiled)) throw new Error(`the policy ${policy.checksum} compiled before and does not compile now`)
  return pageCounter(compiled.policy)(page)
}
