import { describeProblem } from '../src/core/policy/check/policy-problem.ts'
import { compilePolicy } from '../src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import type { PolicyDocument } from '../src/core/policy/policy-document.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

/** A policy that also uses text and boolean features of the caller's snapshots, which the sandbox policy does not. */
export function relationshipPolicy(): CompiledPolicy {
  const { document } = sandboxPolicy()
  const result = compilePolicy(withRelationship(document))
  if ('policy' in result) return result.policy
  throw new Error(result.problems.map(describeProblem).join('\n'))
}

function withRelationship(document: PolicyDocument): PolicyDocument {
  const { scorecard } = document
  return {
    ...document,
    meanings: [],
    version: 'relationship-policy-v1',
    model_version: 'relationship-model-v1',
    missing_reasons: [...document.missing_reasons, { code: 'relationship_unknown', label: 'Relationship not known' }],
    inputs: [
      ...document.inputs,
      {
        feature: 'snapshot.segment',
        type: 'string',
        weight: 1,
        describes: 'relationship',
        missing: 'relationship_unknown',
      },
      {
        feature: 'snapshot.is_employee',
        type: 'boolean',
        weight: 0,
        describes: 'relationship',
        missing: 'relationship_unknown',
      },
      {
        feature: 'snapshot.tenure_months',
        type: 'number',
        weight: 1,
        half_life_days: 60,
        describes: 'relationship',
        missing: 'relationship_unknown',
      },
    ],
    rules: [
      ...document.rules,
      {
        id: 'own_staff',
        when: 'snapshot.is_employee && (!has(snapshot.segment) || snapshot.segment != "premium")',
        // biome-ignore lint/suspicious/noThenProperty: a rule is never awaited
        then: 'manual_review',
        questions_data: true,
        reason: { code: 'own_staff', label: 'Applicant works for us', impact: 'negative' },
        explanation: 'A colleague alone is no reason to decline.',
      },
    ],
    scorecard: {
      ...scorecard,
      characteristics: [
        ...scorecard.characteristics,
        {
          id: 'segment',
          feature: 'snapshot.segment',
          group: 'relationship',
          reference: 4,
          spread: 4,
          bins: [{ equals: 'premium', points: 10 }, { equals: 'student', points: 0 }, { points: 4 }],
          missing: 3,
          shortfall: { code: 'new_relationship', label: 'New relationship' },
          strength: { code: 'close_relationship', label: 'Close relationship' },
        },
        {
          id: 'tenure',
          feature: 'snapshot.tenure_months',
          group: 'relationship',
          reference: 5,
          spread: 6,
          bins: [{ below: 12, points: 0 }, { below: 48, points: 5 }, { points: 9 }],
          missing: 3,
          shortfall: { code: 'short_tenure', label: 'Short relationship' },
          strength: { code: 'long_tenure', label: 'Long relationship' },
        },
      ],
    },
    tests: [],
  }
}
