import { askedIn, refusalOf } from '../core/decide/request-refusal.ts'
import type { Facts } from '../core/facts/facts.ts'
import { describeProblem } from '../core/policy/check/policy-problem.ts'
import { compileStoredPolicy } from '../core/policy/compile/compile-policy.ts'
import { parsePolicy } from '../core/policy/parse-policy.ts'
import type { Environment } from '../core/vocabularies.ts'
import { defineTask } from '../threads/task.ts'
import type { TaskClient, ThreadPool } from '../threads/thread-pool.ts'
import { describeEvidence, type Evidence } from '../underwriting/describe-evidence.ts'
import { dryRun } from '../underwriting/dry-run.ts'
import type { PolicyToExamine } from './examine-policy.ts'
import { invalid } from './problem.ts'
import { runPolicyTask } from './run-policy-task.ts'

/** What a policy is tried on. */
export interface PolicyTrial {
  policy: PolicyToExamine
  facts: Facts
  decidedAt: string
  environment: Environment
}

/** What a policy decides in a dry run, which records nothing. */
export interface TriedPolicy {
  decision: Record<string, unknown>
  evidence: Evidence
}

const TRY = defineTask<typeof tryPolicyText>({
  module: new URL('./try-policy.ts', import.meta.url).href,
  name: 'tryPolicyText',
  lane: 'slow',
  budgetMs: 10_000,
  purpose: 'to decide with',
})

/** Decides under the text of a policy, or under a stored one; says what is wrong if it cannot. */
export function tryPolicyText({
  policy,
  facts,
  decidedAt,
  environment,
}: PolicyTrial): TriedPolicy | { faults: string } {
  const compiled = 'source' in policy ? parsePolicy(policy.source) : compileStoredPolicy(policy)
  if ('altered' in compiled) return { faults: 'Its document is not the one that was proposed.' }
  if ('problems' in compiled) return { faults: compiled.problems.map(describeProblem).join('\n') }
  const refusal = refusalOf(compiled.policy, askedIn(facts.features))
  if (refusal) return { faults: refusal.message }
  const replay = dryRun(compiled.policy, { facts, graph: null, decidedAt }, environment)
  return { decision: { ...replay.decision }, evidence: describeEvidence(replay) }
}

/** Tries a policy in a thread, so that requests are answered meanwhile. */
export async function tryPolicyApart(
  threads: ThreadPool,
  trial: PolicyTrial,
  client: TaskClient,
): Promise<TriedPolicy> {
  return requireTried(await runPolicyTask(threads, TRY, { input: trial, client }))
}

/** The result of a dry run; a policy that cannot decide is a problem. */
export function requireTried(tried: ReturnType<typeof tryPolicyText>): TriedPolicy {
  if ('faults' in tried) throw invalid('policy_invalid', tried.faults)
  return tried
}
