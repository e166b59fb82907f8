import { type PolicyTestResult, type TestCoverage, testPolicy } from '../core/decide/run-policy-tests.ts'
import { describeProblem, type PolicyProblem } from '../core/policy/check/policy-problem.ts'
import { compileStoredPolicy } from '../core/policy/compile/compile-policy.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'
import { checkPolicySource, testsFault } from './check-policy-source.ts'

/** A policy as its author wrote it, or as it is stored. */
export type PolicyToExamine = { source: string } | { document: string; checksum: string }

/** A policy that can run and whose tests pass, as plain data. */
export interface ExaminedPolicy {
  document: PolicyDocument
  checksum: string
  tests: PolicyTestResult[]
  coverage: TestCoverage
}

/** Why a policy cannot be used: it does not compile, or its tests do not pass. It may have several lines. */
export interface FaultyPolicy {
  faults: string
}

/** The text of a policy as its author wrote it, checked: its problems, or its document with the results of its tests. */
export interface CheckedSource {
  problems: PolicyProblem[]
  warnings: PolicyProblem[]
  tests: PolicyTestResult[]
  /** Null if the policy does not compile, so that no test ran. */
  coverage: TestCoverage | null
  document: PolicyDocument | null
  checksum: string | null
}

/** Checks the text of a policy and runs its tests. */
export function checkSource(source: string): CheckedSource {
  const checked = checkPolicySource(source)
  if ('problems' in checked)
    return { problems: checked.problems, warnings: [], tests: [], coverage: null, document: null, checksum: null }
  const { policy, warnings, tests, coverage } = checked
  return { problems: [], warnings, tests, coverage, document: policy.document, checksum: policy.checksum }
}

/** Compiles a policy and runs its tests; says what is wrong if it does not compile or a test fails. */
export function examinePolicy(policy: PolicyToExamine): ExaminedPolicy | FaultyPolicy {
  return 'source' in policy ? examineSource(policy.source) : examineStored(policy)
}

function examineSource(source: string): ExaminedPolicy | FaultyPolicy {
  const checked = checkPolicySource(source)
  if ('problems' in checked) return { faults: checked.problems.map(describeProblem).join('\n') }
  const { document, checksum } = checked.policy
  const failure = testsFault(checked.tests)
  if (failure !== undefined) return { faults: `${document.version} cannot be proposed. ${failure}` }
  return { document, checksum, tests: checked.tests, coverage: checked.coverage }
}

/**
 * Compiles a stored policy from its document, which detects a document that was altered since it was proposed. The
 * checks for authors ran when it was proposed: stricter checks of a later release do not prevent a rollback to it.
 */
function examineStored(stored: { document: string; checksum: string }): ExaminedPolicy | FaultyPolicy {
  const compiled = compileStoredPolicy(stored)
  if ('altered' in compiled) return { faults: 'Its document is not the one that was proposed.' }
  if ('problems' in compiled) return { faults: compiled.problems.map(describeProblem).join('\n') }
  const { tests, coverage } = testPolicy(compiled.policy)
  const faults = testsFault(tests)
  if (faults !== undefined) return { faults }
  return { document: compiled.policy.document, checksum: stored.checksum, tests, coverage }
}
