import { type PolicyTestResult, runPolicyTests } from '../core/decide/run-policy-tests.ts'
import type { CompiledPolicy } from '../core/policy/compiled-policy.ts'
import { parsePolicy } from '../core/policy/parse-policy.ts'
import type { PolicyProblem } from '../core/policy/policy-problem.ts'

/** A policy that can decide, with how its own tests came out; or everything that keeps it from deciding. */
export type CheckedPolicy = { policy: CompiledPolicy; tests: PolicyTestResult[] } | { problems: PolicyProblem[] }

/** Reads a policy as its author wrote it and runs its own tests. */
export function checkPolicySource(source: string): CheckedPolicy {
  const parsed = parsePolicy(source)
  return 'problems' in parsed ? parsed : { ...parsed, tests: runPolicyTests(parsed.policy) }
}

/** Why the tests do not speak for a policy; nothing when there are some and all of them pass. */
export function testsProblem(tests: readonly PolicyTestResult[]): string | undefined {
  if (tests.length === 0) return 'it has no tests of its own: add at least one under tests'
  const failed = tests.filter(({ failures }) => failures.length > 0)
  if (failed.length === 0) return undefined
  const lines = failed.map(({ name, failures }) => `  ${name}: ${failures.join('; ')}`)
  return [`${failed.length} of its ${tests.length} tests fail:`, ...lines].join('\n')
}
