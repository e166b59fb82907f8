import type { ConsentPurpose, DataCategory } from '../../vocabularies.ts'
import type { ConsentRecord, ConsentState } from '../consent-state.ts'

type Records = Partial<Record<DataCategory, ConsentRecord>>

/**
 * Combines consents: what stands revoked in one of the states is revoked, even if another has a later grant, because that grant
 * may have been given without knowledge of the revocation. A new grant lifts a revocation where it was recorded.
 */
export function combineConsents(states: readonly ConsentState[]): ConsentState {
  const combined: ConsentState = {}
  for (const state of states) {
    for (const [purpose, records] of Object.entries(state) as [ConsentPurpose, Records][]) {
      const known: Records = { ...combined[purpose] }
      for (const [category, record] of Object.entries(records) as [DataCategory, ConsentRecord][])
        known[category] = known[category] ? combineRecords(known[category], record) : record
      combined[purpose] = known
    }
  }
  return combined
}

function combineRecords(one: ConsentRecord, other: ConsentRecord): ConsentRecord {
  if (isRevocation(one) !== isRevocation(other)) return isRevocation(one) ? one : other
  const revokedAt = [one.revokedAt, other.revokedAt]
    .filter((at) => at !== undefined)
    .sort()
    .at(-1)
  return { ...laterGrant(one, other), ...(revokedAt !== undefined && { revokedAt }) }
}

/** Whether the revocation is the last that was said; the latest of several is at or after each of their grants. */
function isRevocation({ grantedAt = '', revokedAt }: ConsentRecord): boolean {
  return revokedAt !== undefined && revokedAt >= grantedAt
}

/**
 * The later grant counts, though it may have expired: as of two grants about one entity, it says anew for how long.
 * Of two at one instant the earlier expiry holds.
 */
function laterGrant(one: ConsentRecord, other: ConsentRecord): ConsentRecord {
  const [a, b] = [one, other].map(({ grantedAt = '' }) => grantedAt) as [string, string]
  const { grantedAt } = a >= b ? one : other
  const expiries = [one, other].filter((record) => record.grantedAt === grantedAt).map(({ expiresAt }) => expiresAt)
  const [expiresAt] = expiries.filter((at) => at !== undefined).sort()
  return { ...(grantedAt !== undefined && { grantedAt }), ...(expiresAt !== undefined && { expiresAt }) }
}
