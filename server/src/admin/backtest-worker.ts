/** Decides recorded decisions again in a thread of its own: pages come in as messages, the result goes out as one. */
import { parentPort } from 'node:worker_threads'
import { BacktestTally, type ReportedOutcome } from '../core/backtest/backtest-tally.ts'
import type { RecordedCase } from '../core/backtest/redecide.ts'
import { compileStoredPolicy } from '../core/policy/compile-policy.ts'
import { parsePolicy } from '../core/policy/parse-policy.ts'
import { describeProblem } from '../core/policy/policy-problem.ts'
import type { PolicyToExamine } from './examine-policy.ts'

/** A page of recorded decisions with the outcome reports of these decisions. */
export interface BacktestPage {
  cases: RecordedCase[]
  outcomes: ReportedOutcome[]
}

/** What the thread is asked: to begin with a policy, to add a page, or for the result. */
export type BacktestRequest = { begin: PolicyToExamine } | { page: BacktestPage } | { end: true }

let tally: BacktestTally | undefined

parentPort!.on('message', (request: BacktestRequest) => {
  if ('begin' in request) parentPort!.postMessage(begin(request.begin))
  else if ('page' in request) {
    tally!.add(request.page.cases, request.page.outcomes)
    parentPort!.postMessage({})
  } else {
    parentPort!.postMessage({ result: tally!.result() })
    tally = undefined
  }
})

function begin(policy: PolicyToExamine): { problem: string } | { checksum: string } {
  const compiled = 'source' in policy ? parsePolicy(policy.source) : compileStoredPolicy(policy)
  if ('altered' in compiled) return { problem: 'its document is not the one that was proposed' }
  if ('problems' in compiled) return { problem: compiled.problems.map(describeProblem).join('\n') }
  tally = new BacktestTally(compiled.policy)
  return { checksum: compiled.policy.checksum }
}
