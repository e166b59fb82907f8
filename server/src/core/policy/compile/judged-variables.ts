import type { FeatureType } from '../../vocabularies.ts'

/** What the terms of a limit and the rules after the score may read besides the inputs. */
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

/** The name of such a variable. */
export type JudgedVariable = keyof typeof JUDGED_VARIABLES

/** The names in the order of their slots. */
export const JUDGED_NAMES = Object.keys(JUDGED_VARIABLES) as JudgedVariable[]
