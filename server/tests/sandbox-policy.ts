import { readFileSync } from 'node:fs'
import type { CompiledPolicy } from '../src/core/policy/compiled-policy.ts'
import { parsePolicy } from '../src/core/policy/parse-policy.ts'
import { describeProblem } from '../src/core/policy/policy-problem.ts'

const FILE = new URL('../../policies/sandbox-policy-v1.yaml', import.meta.url)

/** The source of the policy that the sandbox ships with. */
export function sandboxPolicySource(): string {
  return readFileSync(FILE, 'utf8')
}

/** The compiled policy that the sandbox ships with. */
export function sandboxPolicy(): CompiledPolicy {
  const result = parsePolicy(sandboxPolicySource())
  if ('policy' in result) return result.policy
  throw new Error(result.problems.map(describeProblem).join('\n'))
}
