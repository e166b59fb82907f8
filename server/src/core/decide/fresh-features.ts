import { type FactSet, missing } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'

const STALE = missing('stale')

/** The features as this policy accepts them: what is older than an input's `max_age_days` is missing from here on. */
export function freshFeatures({ ageLimits }: CompiledPolicy, features: FactSet): FactSet {
  let fresh = features
  for (const { feature, maxAgeDays } of ageLimits) {
    const fact = features[feature]
    if (fact === undefined || !('value' in fact) || fact.age_days === undefined || fact.age_days <= maxAgeDays) continue
    // Stale facts are the exception, so only they pay for a copy.
    if (fresh === features) fresh = { ...features }
    fresh[feature] = STALE
  }
  return fresh
}
