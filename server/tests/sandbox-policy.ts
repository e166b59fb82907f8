import { readFileSync } from 'node:fs'
import { describeProblem } from '../src/core/policy/check/policy-problem.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { parsePolicy } from '../src/core/policy/parse-policy.ts'

const FILE = new URL('../../policies/sandbox-policy-v1.yaml', import.meta.url)

/** The source of the policy that the sandbox ships with. */
export function sandboxPolicySource(): string {
  return readFileSync(FILE, 'utf8')
}

/** The compiled policy that the sandbox ships with. */
export function sandboxPolicy(): CompiledPolicy {
  return compiledFile(FILE)
}

const compiled = new Map<string, CompiledPolicy>()

/** The compiled policy of a file, one object for all calls: parsing a policy takes a tenth of a second. */
export function compiledFile(file: URL): CompiledPolicy {
  const known = compiled.get(file.href)
  if (known) return known
  const result = parsePolicy(readFileSync(file, 'utf8'))
  if ('problems' in result) throw new Error(result.problems.map(describeProblem).join('\n'))
  freeze(result.policy.document)
  compiled.set(file.href, result.policy)
  return result.policy
}

/** Freezes a value with everything in it, so that no test alters the policy of the next one. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const part of Object.values(Object.freeze(value))) freeze(part)
}
