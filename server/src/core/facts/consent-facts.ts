import type { ConsentPurpose, ConsentStatus, DataCategory } from '../vocabularies.ts'
import type { ConsentRecord, ConsentState } from './consent-state.ts'
import { type FactSet, known, type MissingBecause } from './facts.ts'

type Withheld = Extract<MissingBecause, 'consent_revoked' | 'consent_expired'>

/** The status of a consent at one instant; `none` means that none was recorded. */
type CurrentStatus = ConsentStatus | 'expired' | 'none'

// The purposes that cover each category of data: underwriting, and the purpose it was collected for.
const PURPOSES_OF: Record<DataCategory, readonly ConsentPurpose[]> = {
  identity: ['credit_underwriting', 'identity_verification'],
  transactions: ['credit_underwriting', 'transaction_analysis'],
  features: ['credit_underwriting', 'data_sharing'],
  graph: ['credit_underwriting', 'data_sharing'],
}

const DATA_STATUS = { consent_revoked: 'revoked', consent_expired: 'expired', open: 'open' } as const

/** The status of every purpose that matters to a decision, and whether identity data may be used under all of them. */
export function consentFacts(state: ConsentState, now: string): FactSet {
  return {
    'consent.credit_underwriting': known(statusOfPurpose(state, 'credit_underwriting', now)),
    'consent.data_sharing': known(statusOfPurpose(state, 'data_sharing', now)),
    'consent.identity_data': known(DATA_STATUS[withheldBecause(state, 'identity', now) ?? 'open']),
    'consent.identity_verification': known(statusOfPurpose(state, 'identity_verification', now)),
    'consent.transaction_analysis': known(statusOfPurpose(state, 'transaction_analysis', now)),
  }
}

/**
 * Why data of a category must not be used; undefined if it may be used.
 *
 * A consent that was never recorded withholds nothing: the caller may rely on another legal basis, and a policy can
 * require a consent.
 */
export function withheldBecause(state: ConsentState, category: DataCategory, now: string): Withheld | undefined {
  const statuses = PURPOSES_OF[category].map((purpose) => statusOf(state[purpose]?.[category], now))
  if (statuses.includes('revoked')) return 'consent_revoked'
  return statuses.includes('expired') ? 'consent_expired' : undefined
}

function statusOfPurpose(state: ConsentState, purpose: ConsentPurpose, now: string): CurrentStatus {
  const statuses = Object.values(state[purpose] ?? {}).map((record) => statusOf(record, now))
  const best: CurrentStatus[] = ['granted', 'revoked', 'expired']
  return best.find((status) => statuses.includes(status)) ?? 'none'
}

function statusOf(record: ConsentRecord | undefined, now: string): CurrentStatus {
  if (record === undefined) return 'none'
  const { grantedAt, expiresAt, revokedAt } = record
  const isRevoked = revokedAt !== undefined && revokedAt <= now && revokedAt >= (grantedAt ?? '')
  if (isRevoked) return 'revoked'
  if (grantedAt === undefined || grantedAt > now) return 'none'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'granted'
}
