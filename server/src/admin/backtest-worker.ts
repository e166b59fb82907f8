/** Decides recorded decisions again in a thread of its own: pages come in as messages, their counts go out. */
import { parentPort } from 'node:worker_threads'
import { type BacktestCounts, noCounts } from '../core/backtest/backtest-counts.ts'
import { type BacktestPage, pageCounter } from '../core/backtest/count-page.ts'
import { compileStoredPolicy } from '../core/policy/compile-policy.ts'
import { parsePolicy } from '../core/policy/parse-policy.ts'
import { describeProblem } from '../core/policy/policy-problem.ts'
import type { PolicyToExamine } from './examine-policy.ts'

/** What the thread is asked: to begin with a policy, or to count a page. */
export type BacktestRequest = { begin: PolicyToExamine } | { page: BacktestPage }

/** What the thread answers to a policy: why it does not compile, or the counts of no decisions. */
export type BacktestBegun = { problem: string } | { counts: BacktestCounts }

let countPage: ((page: BacktestPage) => BacktestCounts) | undefined

parentPort!.on('message', (request: BacktestRequest) => {
  parentPort!.postMessage('begin' in request ? begin(request.begin) : countPage!(request.page))
})

function begin(policy: PolicyToExamine): BacktestBegun {
  const compiled = 'source' in policy ? parsePolicy(policy.source) : compileStoredPolicy(policy)
  if ('altered' in compiled) return { problem: 'its document is not the one that was proposed' }
  if ('problems' in compiled) return { problem: compiled.problems.map(describeProblem).join('\n') }
  countPage = pageCounter(compiled.policy)
  return { counts: noCounts(compiled.policy) }
}
