import type { FeatureType } from '../vocabularies.ts'

/**
 * What the terms of a limit and the rules after the score may read besides the inputs, in the order in which `judgedSlots`
 * fills them in.
 */
export const JUDGED_VARIABLES = {
  'tier.cap': 'number',
  'tier.balance_multiple': 'number',
  'score.bad_probability': 'number',
  'product.annuity_factor': 'number',
  'product.term_months': 'number',
  'currency.per_reference': 'number',
  'tier.name': 'string',
  'score.total': 'number',
  'score.probability': 'number',
  'product.annual_rate': 'number',
  'segment.name': 'string',
  'limit.amount': 'number',
} as const satisfies Record<string, FeatureType>
