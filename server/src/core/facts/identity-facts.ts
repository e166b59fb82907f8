import { ownProperty } from '../stored-json.ts'
import type { IdentifierType } from '../vocabularies.ts'
import { ageInDays, type FactSet, known } from './facts.ts'
import type { IdentifierSummary, IdentityState } from './identity-state.ts'

/** Identifiers of one person or business that are issued only after a check. */
const STRONG_IDENTIFIERS: readonly IdentifierType[] = ['government_id', 'tax_id', 'registration_number', 'bank_account']

// An entity may have two bank accounts, but not two tax numbers of one country.
const UNIQUE_IDENTIFIERS: readonly IdentifierType[] = ['government_id', 'tax_id', 'registration_number']

/** The identity features; undefined if there is no identifier. */
export function identityFacts(state: IdentityState, now: string): FactSet | undefined {
  const types = Object.entries(state) as [IdentifierType, IdentifierSummary][]
  if (types.length === 0) return undefined
  const verified = types.filter(([, summary]) => Object.keys(summary.verified).length > 0)
  const isStrong = ([type]: [IdentifierType, unknown]) => STRONG_IDENTIFIERS.includes(type)
  const conflicts = types.filter(([type, summary]) => UNIQUE_IDENTIFIERS.includes(type) && isConflict(type, summary))
  const strong = verified.filter(isStrong)
  const age = ageOfLatest(
    verified.flatMap(([, summary]) => Object.values(summary.verified)),
    now,
  )
  return {
    'identity.conflicts': known(conflicts.length),
    'identity.failed': known(types.reduce((count, [, summary]) => count + Object.keys(summary.failed).length, 0)),
    'identity.verified_strong': known(strong.length, age),
    'identity.verified_weak': known(verified.length - strong.length, age),
  }
}

/**
 * Whether two verified identifiers have the same issuer; identifiers without an issuer are compared with each other.
 *
 * A passport and a driving licence are two documents of one person, so government documents conflict only if both name
 * the same issuer. An overflowed summary always conflicts: otherwise a conflict could be hidden by adding identifiers.
 */
function isConflict(type: IdentifierType, { verified, issuers = {}, overflowed }: IdentifierSummary): boolean {
  if (overflowed) return true
  const all = Object.keys(verified).map((hash) => ownProperty(issuers, hash))
  const comparable = type === 'government_id' ? all.filter((issuer) => issuer !== undefined) : all
  return new Set(comparable).size < comparable.length
}

function ageOfLatest(instants: readonly string[], now: string): number | undefined {
  const latest = [...instants].sort().at(-1)
  return latest === undefined ? undefined : ageInDays(latest, now)
}
