import { ownProperty } from '../stored-json.ts'
import { type ConsentPurpose, type ConsentStatus, DATA_CATEGORIES, type DataCategory } from '../vocabularies.ts'
import { laterOf } from './newest-of.ts'

/** One consent that was granted or revoked; an empty list of categories means all of them. */
export interface ConsentFact {
  purpose: ConsentPurpose
  status: ConsentStatus
  dataCategories: readonly DataCategory[]
  grantedAt: string
  expiresAt?: string
  revokedAt?: string
}

/** The latest grant and the latest revocation of one purpose for one data category. */
export interface ConsentRecord {
  grantedAt?: string
  expiresAt?: string
  revokedAt?: string
}

/** The consents of an entity, by purpose and data category. */
export type ConsentState = Partial<Record<ConsentPurpose, Partial<Record<DataCategory, ConsentRecord>>>>

/** Adds a grant or a revocation to the consents. */
export function addConsent(state: ConsentState, consent: ConsentFact): ConsentState {
  const categories = consent.dataCategories.length > 0 ? consent.dataCategories : DATA_CATEGORIES
  const records = { ...ownProperty(state, consent.purpose) }
  for (const category of categories) {
    const record = records[category] ?? {}
    records[category] = consent.status === 'granted' ? withGrant(record, consent) : withRevocation(record, consent)
  }
  return { ...state, [consent.purpose]: records }
}

function withGrant(record: ConsentRecord, { grantedAt, expiresAt }: ConsentFact): ConsentRecord {
  if (record.grantedAt !== undefined && record.grantedAt > grantedAt) return record
  const { expiresAt: knownExpiry, ...rest } = record
  // Of two grants at one instant the earlier expiry holds, so that their order does not matter.
  const expiry = record.grantedAt === grantedAt ? earlierOf(knownExpiry, expiresAt) : expiresAt
  return { ...rest, grantedAt, ...(expiry !== undefined && { expiresAt: expiry }) }
}

function withRevocation(record: ConsentRecord, { grantedAt, revokedAt = grantedAt }: ConsentFact): ConsentRecord {
  return { ...record, revokedAt: laterOf(record.revokedAt, revokedAt) }
}

function earlierOf(a: string | undefined, b: string | undefined): string | undefined {
  return [a, b].filter((one) => one !== undefined).sort()[0]
}
