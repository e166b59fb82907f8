/** What a feature can be worth. */
export type FactValue = number | string | boolean

/**
 * Why a feature has no value; none of these is ever read as zero.
 *
 * `other_currency`: there is data, but not in the currency of the request. `stale`: older than the policy accepts.
 */
export type MissingBecause =
  | 'no_data'
  | 'too_short'
  | 'other_currency'
  | 'stale'
  | 'consent_revoked'
  | 'consent_expired'
  | 'not_requested'

/** A feature as one decision sees it: its value and how old it is, or why there is none. */
export type Fact = { value: FactValue; age_days?: number } | { missing: MissingBecause }

/** Features by their name in the catalogue. */
export type FactSet = Record<string, Fact>

/** Everything a decision may look at. Policies come and go; the same facts can be decided under any of them. */
export interface Facts {
  features: FactSet
  format: 1
}

/** A known value, with its age where it can grow stale. */
export function known(value: FactValue, ageDays?: number): Fact {
  return ageDays === undefined ? { value } : { age_days: ageDays, value }
}

/** A feature without a value. */
export function missing(because: MissingBecause): Fact {
  return { missing: because }
}
