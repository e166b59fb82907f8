import { expressionsOf } from '../expression/policy-expressions.ts'
import type { PolicyDocument, PolicyRule } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds what a policy without a scorecard cannot mean: the score, its points, several tiers; and an approval without a reason. */
export function checkUnscored(document: PolicyDocument): PolicyProblem[] {
  const { scorecard, tiers, rules, reasons, segments = [] } = document
  if (scorecard.characteristics.length > 0) return []
  return [
    ...(reasons.nothing_against === undefined
      ? [
          {
            path: ['reasons'],
            message:
              'without a scorecard no strength can be the reason of an approval; add nothing_against: { code: …, label: … }',
          },
        ]
      : []),
    ...(tiers.length > 1
      ? [{ path: ['tiers'], message: 'without a score every request is in the last tier; keep that one' }]
      : []),
    ...pointsProblems(rules, []),
    ...segments.flatMap((segment, index) => pointsProblems(segment.rules ?? [], ['segments', index])),
    ...segments.flatMap(({ scorecard: own, verdicts, tiers: ofSegment = [] }, index) => [
      ...(own === undefined
        ? []
        : [
            {
              path: ['segments', index, 'scorecard'],
              message: 'the document has no scorecard; give it one too, or make this segment a policy of its own',
            },
          ]),
      ...(verdicts === undefined
        ? []
        : [
            {
              path: ['segments', index, 'verdicts'],
              message: 'without a scorecard nothing is decided by these; remove them',
            },
          ]),
      ...(ofSegment.length > 1
        ? [
            {
              path: ['segments', index, 'tiers'],
              message: 'without a score every request is in the last tier; keep that one',
            },
          ]
        : []),
    ]),
    ...expressionsOf(document).flatMap(({ path, source }) => {
      const [read] = READS_SCORE.exec(source) ?? []
      return read === undefined
        ? []
        : [{ path, message: `${read} is never known, because there is no scorecard; remove it, or add one` }]
    }),
  ]
}

function pointsProblems(rules: readonly PolicyRule[], path: (string | number)[]): PolicyProblem[] {
  const message = 'there is no score to add points to; use another action'
  return rules.flatMap(({ then }, index) =>
    then === 'points' ? [{ path: [...path, 'rules', index, 'then'], message }] : [],
  )
}

const READS_SCORE = /\bscore\.(total|probability|bad_probability)\b/
