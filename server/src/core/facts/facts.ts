/** The value of a feature. */
export type FactValue = number | string | boolean

/** Why a feature has no value; a missing value never counts as zero. */
export const MISSING_BECAUSE = {
  no_data: 'Nothing was reported from which the value can be computed.',
  too_short: 'There are transactions, but of less than a month.',
  other_currency: 'There is data, but not in the currency of the request.',
  stale: 'The value is older than the policy accepts (`max_age_days` of the input).',
  wrong_type: 'The value is not of the type that the policy reads, such as text where a number is expected.',
  out_of_range: 'The policy reads it as a probability, and it is not from 0 to 1.',
  not_a_number: 'The policy computes it, and divides by zero.',
  too_long: 'The policy computes it, and the text has more than 500 characters.',
  consent_revoked: 'The consent that covers this data was revoked.',
  consent_expired: 'The consent that covers this data has expired.',
  not_requested: 'The request does not name the amount or the currency that the value depends on.',
} as const

/** A reason why a feature has no value. */
export type MissingBecause = keyof typeof MISSING_BECAUSE

/** A feature as one decision sees it: its value and how old it is, or why there is none. */
export type Fact = { value: FactValue; age_days?: number } | { missing: MissingBecause }

/** Features by their name in the catalogue. */
export type FactSet = Record<string, Fact>

/** Everything that a decision may use. Facts do not depend on the policy, so any policy can be evaluated on them. */
export interface Facts {
  features: FactSet
  format: 1
  /** The entities that were read as one, sorted by id; absent if there was only one. */
  merged?: readonly string[]
}

/** A known value, with its age if it can become stale. */
export function known(value: FactValue, ageDays?: number): Fact {
  return ageDays === undefined ? { value } : { age_days: ageDays, value }
}

/** A feature without a value. */
export function missing(because: MissingBecause): Fact {
  return { missing: because }
}

/** A day of 24 hours. */
export const DAY_MS = 86_400_000

/** Whole days from an instant to now; 0 for an instant in the future. */
export function ageInDays(instant: string, now: string): number {
  return Math.max(0, Math.floor((Date.parse(now) - Date.parse(instant)) / DAY_MS))
}
