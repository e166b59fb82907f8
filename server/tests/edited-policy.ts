import { describeProblem } from '../src/core/policy/check/policy-problem.ts'
import { compilePolicy } from '../src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import type { PolicyDocument, PolicyProduct, PolicyRule } from '../src/core/policy/policy-document.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

/** The parts of a policy that a test replaces; a function gets the sandbox policy. */
export type PolicyEdit = Partial<PolicyDocument> | ((document: PolicyDocument) => Partial<PolicyDocument>)

/** The sandbox policy with other parts, and without meanings: they are about the parts that it has. */
export function editedDocument(edit: PolicyEdit): PolicyDocument {
  const { document } = sandboxPolicy()
  return { ...document, tests: [], meanings: [], ...(typeof edit === 'function' ? edit(document) : edit) }
}

/** The sandbox policy with other parts, compiled. */
export function editedPolicy(edit: PolicyEdit): CompiledPolicy {
  const result = compilePolicy(editedDocument(edit))
  if ('policy' in result) return result.policy
  throw new Error(result.problems.map(describeProblem).join('\n'))
}

/** What `policy check` says about the sandbox policy with other parts, warnings included. */
export function problemsOf(edit: PolicyEdit): string[] {
  const result = compilePolicy(editedDocument(edit))
  return ('problems' in result ? result.problems : result.warnings).map(describeProblem)
}

/** Products with other terms of credit; those that are access have none. */
export function withTerms(products: readonly PolicyProduct[], terms: Partial<PolicyProduct>): PolicyProduct[] {
  return products.map((product) => (product.kind === 'access' ? product : { ...product, ...terms }))
}

/** A rule for tests, with a reason of its own. */
export function ruleOf({ action, ...rule }: TestRule): PolicyRule {
  const { id } = rule
  const impact = rule.points !== undefined && rule.points > 0 ? 'positive' : 'negative'
  const reason = { code: id, label: `Test rule ${id}`, impact } as const
  // biome-ignore lint/suspicious/noThenProperty: a rule is never awaited
  return { reason, explanation: 'A rule of a test.', then: action, ...rule }
}

/** What a test says about a rule. */
export interface TestRule extends Pick<PolicyRule, 'id' | 'when'>, Partial<Omit<PolicyRule, 'id' | 'when' | 'then'>> {
  action: PolicyRule['then']
}

/** An input that callers send, for tests. */
export function snapshotInput(name: string, type: 'number' | 'string' | 'boolean' = 'number') {
  return { feature: `snapshot.${name}`, type, weight: 0, describes: 'other' } as const
}

/** A rule, or a row of a table, that does something else. */
export function doing<Row extends object, Action extends string>(row: Row, action: Action): Row & { then: Action } {
  // biome-ignore lint/suspicious/noThenProperty: a row is never awaited
  return { ...row, then: action }
}
