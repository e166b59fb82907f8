import { ageInDays } from './age-in-days.ts'
import type { FactSet } from './facts.ts'
import { known } from './facts.ts'
import type { IdentifierSummary, IdentifierType, IdentityState } from './identity-state.ts'

/** Identifiers that name one person or business and are issued after a check. */
const STRONG_IDENTIFIERS: readonly IdentifierType[] = ['government_id', 'tax_id', 'registration_number', 'bank_account']

// One person may well have two bank accounts, but not two tax numbers.
const UNIQUE_IDENTIFIERS: readonly IdentifierType[] = ['government_id', 'tax_id', 'registration_number']

/** The identity features, or nothing when no identifier was ever given. */
export function identityFacts(state: IdentityState, now: string): FactSet | undefined {
  const types = Object.entries(state) as [IdentifierType, IdentifierSummary][]
  if (types.length === 0) return undefined
  const verified = types.filter(([, summary]) => verifiedHashes(summary).length > 0)
  const isStrong = ([type]: [IdentifierType, unknown]) => STRONG_IDENTIFIERS.includes(type)
  const conflicts = verified.filter(
    ([type, summary]) => UNIQUE_IDENTIFIERS.includes(type) && verifiedHashes(summary).length > 1,
  )
  const strong = verified.filter(isStrong)
  const age = ageOfLatest(
    verified.flatMap(([, summary]) => Object.values(summary.verified)),
    now,
  )
  return {
    'identity.verified_strong': known(strong.length, age),
    'identity.verified_weak': known(verified.length - strong.length, age),
    'identity.failed': known(types.reduce((count, [, summary]) => count + failedCount(summary), 0)),
    'identity.conflicts': known(conflicts.length),
  }
}

/** A failure of the same instant as a success, or a later one, takes the success back. */
function verifiedHashes({ verified, failed }: IdentifierSummary): string[] {
  return Object.keys(verified).filter((hash) => !isLater(failed, verified, hash))
}

function failedCount({ verified, failed }: IdentifierSummary): number {
  return Object.keys(failed).filter((hash) => isLater(failed, verified, hash)).length
}

function isLater(failed: Record<string, string>, verified: Record<string, string>, hash: string): boolean {
  const [failedAt, verifiedAt] = [failed[hash], verified[hash]]
  return failedAt !== undefined && (verifiedAt === undefined || failedAt >= verifiedAt)
}

function ageOfLatest(instants: readonly string[], now: string): number | undefined {
  const latest = [...instants].sort().at(-1)
  return latest === undefined ? undefined : ageInDays(latest, now)
}
