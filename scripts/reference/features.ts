import { MISSING_BECAUSE } from '../../server/src/core/facts/facts.ts'
import { FEATURE_CATALOGUE, type FeatureDefinition } from '../../server/src/core/facts/feature-catalogue.ts'
import { code, codes, type Page, table } from './markdown.ts'

/** The features a policy may use, one section per source. */
export function featuresPage(): Page {
  const sections = Map.groupBy(Object.entries<FeatureDefinition>(FEATURE_CATALOGUE), ([, feature]) =>
    introduce(feature),
  )
  return {
    title: 'Features',
    lists: 'the features that a policy may use',
    source: 'server/src/core/facts/feature-catalogue.ts',
    body: [
      'A value that ages lowers the confidence of a decision, not its score: after one half-life, half of the value counts as unknown. A policy can set another half-life for an input with `half_life_days`.',
      'The consent category is the kind of data that a consent covers; while that consent is revoked or expired, the features are missing.',
      '`snapshot.*` features are not listed: callers name them, and a policy that uses one declares its type.',
      ...[...sections].flatMap(([introduction, features]) => [introduction, tableOf(features)]),
      '## Why a feature is missing',
      'A missing value is never read as zero. A policy names the reason to give for it ([reason codes](reason-codes.md)).',
      'What is `not_requested` needs no reason: a characteristic that reads it does not apply, scores its reference, and counts neither for nor against the applicant. So an input that is missing for no other cause, such as `request.amount`, needs no `missing`.',
      table(
        ['code', 'meaning'],
        Object.entries(MISSING_BECAUSE).map(([name, meaning]) => [code(name), meaning]),
      ),
    ],
  }
}

/** The heading of a source, and what its features have in common. */
function introduce({ source, half_life_days, data_category }: FeatureDefinition): string {
  const halfLife = half_life_days === null ? 'Values do not age' : `Half-life: ${half_life_days} days`
  const consent = data_category === null ? 'no consent category' : `consent category ${code(data_category)}`
  return `## From ${source}\n\n${halfLife}; ${consent}.`
}

function tableOf(features: readonly [string, FeatureDefinition][]): string {
  return table(
    ['feature', 'type', 'meaning', 'unit or values', 'missing because'],
    features.map(([name, { type, label, unit, missing_because }]) => [
      code(name),
      type,
      label,
      unit,
      // Both reasons of consent always come together, and would make the column twice as wide.
      codes([...new Set(missing_because.map((reason) => reason.replace(/^consent_.*/, 'consent_*')))]) || 'never',
    ]),
  )
}
