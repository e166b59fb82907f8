import { type ConsentPurpose, type ConsentStatus, DATA_CATEGORIES, type DataCategory } from '../vocabularies.ts'
import type { EntityState } from './entity-state.ts'
import { laterOf } from './newest-of.ts'
import { ownProperty } from './own-property.ts'

/** One consent given or taken back; without named categories it speaks for all of them. */
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

/** Takes a consent event into the consents. */
export function applyConsent(state: EntityState, consent: ConsentFact): EntityState {
  const categories = consent.dataCategories.length > 0 ? consent.dataCategories : DATA_CATEGORIES
  const records = { ...ownProperty(state.consents, consent.purpose) }
  for (const category of categories) {
    const record = records[category] ?? {}
    records[category] = consent.status === 'granted' ? withGrant(record, consent) : withRevocation(record, consent)
  }
  return { ...state, consents: { ...state.consents, [consent.purpose]: records } }
}

function withGrant(record: ConsentRecord, { grantedAt, expiresAt }: ConsentFact): ConsentRecord {
  if (record.grantedAt !== undefined && record.grantedAt > grantedAt) return record
  const { expiresAt: knownExpiry, ...rest } = record
  // Two grants of one instant: the one that ends first is the one both agree on.
  const expiry = record.grantedAt === grantedAt ? earlierOf(knownExpiry, expiresAt) : expiresAt
  return { ...rest, grantedAt, ...(expiry !== undefined && { expiresAt: expiry }) }
}

function withRevocation(record: ConsentRecord, { grantedAt, revokedAt = grantedAt }: ConsentFact): ConsentRecord {
  return { ...record, revokedAt: laterOf(record.revokedAt, revokedAt) }
}

function earlierOf(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}
