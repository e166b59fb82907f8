import type { PolicyDocument } from '../src/core/policy/policy-document.ts'
import { editedDocument, ruleOf } from './edited-policy.ts'

/** As many comparisons as one expression may have. */
const COMPARISONS = 20
const RULES_MAX = 200

/** A valid policy that is as slow as the language allows: each amount that is tried runs all of its rules. */
export function hostilePolicy(version: string): PolicyDocument {
  const never = Array.from({ length: COMPARISONS }, (_, index) => `request.amount * ${index}.5 < 0.0`).join(' || ')
  return editedDocument(({ inputs, rules }) => ({
    version,
    inputs: [...inputs, { feature: 'request.amount', type: 'number', weight: 0 }],
    rules: [
      ...rules,
      ...Array.from({ length: RULES_MAX - rules.length }, (_, index) =>
        ruleOf({ id: `slow_${index}`, when: `(${never}) && request.amount < ${index}.0`, action: 'points', points: 1 }),
      ),
    ],
    tests: [{ name: 'nothing known', facts: {}, expect: { verdict: 'manual_review' } }],
  }))
}
