import type { PolicyProblem } from './check/policy-problem.ts'
import type { PolicyDocument, WrittenPolicy } from './policy-document.ts'

/** The score of a policy without a scorecard: no line adds to it, and nothing is decided by it. */
const NO_SCORECARD: PolicyDocument['scorecard'] = {
  base: 0,
  spread: 1,
  characteristics: [],
  normal: [
    { z: 0, ppm: 500_000 },
    { z: 1, ppm: 500_001 },
  ],
}

/**
 * A policy with the parts that its author may leave out written out, so that its stored document has them. A policy without a
 * scorecard decides by rules, tables and limit terms.
 */
export function completePolicy(written: WrittenPolicy): { document: PolicyDocument } | { problems: PolicyProblem[] } {
  const { scorecard, verdicts = {}, ...rest } = written
  const { cutoff, confidence_min_ppm, completeness_min_ppm } = verdicts
  if (scorecard === undefined) {
    const given = Object.keys(verdicts)
    if (given.length > 0)
      return {
        problems: given.map((field) => ({
          path: ['verdicts', field],
          message: `without a scorecard nothing is decided by ${field}; remove it, or add a scorecard. Ask for what has to be known by rules with !has(…), which give a reason`,
        })),
      }
    const none = { cutoff: 0, confidence_min_ppm: 0, completeness_min_ppm: 0 }
    return { document: { ...rest, scorecard: NO_SCORECARD, verdicts: none } }
  }
  const lacking = (['cutoff', 'confidence_min_ppm', 'completeness_min_ppm'] as const).filter(
    (field) => verdicts[field] === undefined,
  )
  if (cutoff === undefined || confidence_min_ppm === undefined || completeness_min_ppm === undefined) {
    const message = `a policy with a scorecard needs verdicts with ${lacking.join(', ')}`
    return { problems: [{ path: written.verdicts ? ['verdicts'] : [], message }] }
  }
  return { document: { ...rest, scorecard, verdicts: { cutoff, confidence_min_ppm, completeness_min_ppm } } }
}
