import { POLICY_NODES_MAX } from '../src/core/policy/check/check-cost.ts'
import type { PolicyDocument } from '../src/core/policy/policy-document.ts'
import { editedDocument, ruleOf } from './edited-policy.ts'

/** The most parts that one expression may have. */
const EXPRESSION_NODES_MAX = 200
/** Leaves room for the sandbox policy itself. */
const NODES = POLICY_NODES_MAX - 1_500

/** A policy that an author may propose, and whose decisions cost as much as any: all of it runs for each amount that is tried. */
export function hostilePolicy(version: string): PolicyDocument {
  // Two parts for each sum, and four for the comparison.
  const sums = '+1.0'.repeat((EXPRESSION_NODES_MAX - 4) / 2 - 1)
  const when = `request.amount${sums} < 0.0`
  const rules = Array.from({ length: Math.floor(NODES / EXPRESSION_NODES_MAX) }, (_, index) =>
    ruleOf({ id: `costly_${index}`, when, action: 'manual_review' }),
  )
  return editedDocument((sandbox) => ({
    version,
    inputs: [...sandbox.inputs, { feature: 'request.amount', type: 'number', weight: 0 }],
    // The smaller amount that it asks a person about less often is searched for.
    rules: [...sandbox.rules, ruleOf({ id: 'large', when: 'request.amount > 777.0', action: 'manual_review' })],
    after_score: rules,
    tests: [
      {
        name: 'nothing known',
        facts: { 'request.amount': 1_000, 'request.currency': 'EUR' },
        expect: { verdict: 'manual_review' },
      },
    ],
  }))
}
