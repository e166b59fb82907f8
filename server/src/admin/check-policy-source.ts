import { type PolicyTestResult, type TestCoverage, testPolicy } from '../core/decide/run-policy-tests.ts'
import type { PolicyProblem } from '../core/policy/check/policy-problem.ts'
import type { CompiledPolicy } from '../core/policy/compile/compiled-policy.ts'
import { parsePolicy } from '../core/policy/parse-policy.ts'

/** A valid policy with its warnings and the results of its tests; or every problem that makes it invalid. */
export type CheckedPolicy =
  | { policy: CompiledPolicy; warnings: PolicyProblem[]; tests: PolicyTestResult[]; coverage: TestCoverage }
  | { problems: PolicyProblem[] }

/** Parses a policy as its author wrote it and runs its tests. */
export function checkPolicySource(source: string): CheckedPolicy {
  const parsed = parsePolicy(source)
  return 'problems' in parsed ? parsed : { ...parsed, ...testPolicy(parsed.policy) }
}

/** What the tests of a policy leave untried, in one line; undefined if they reach every part. */
export function uncoveredLine({ parts, uncovered }: TestCoverage): string | undefined {
  if (uncovered.length === 0) return undefined
  const names = uncovered.slice(0, UNCOVERED_NAMED_MAX).map(({ kind, name }) => `${kind} ${name}`)
  const others = uncovered.length - names.length
  return `the tests reach ${parts - uncovered.length} of ${parts} rules, rows and segments; none reaches ${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}

const UNCOVERED_NAMED_MAX = 20

/** Why the tests of a policy do not suffice: it has none, or some fail; undefined if all pass. */
export function testsFault(tests: readonly PolicyTestResult[]): string | undefined {
  if (tests.length === 0) return 'It has no tests.'
  const failed = tests.filter(({ failures }) => failures.length > 0)
  if (failed.length === 0) return undefined
  const lines = failed.map(({ name, failures }) => `  ${name}: ${failures.join('; ')}`)
  return [`${failed.length} of its ${tests.length} tests fail:`, ...lines].join('\n')
}
