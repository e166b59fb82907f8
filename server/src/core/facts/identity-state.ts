import type { EntityState } from './entity-state.ts'
import { laterOf, newestOf } from './newest-of.ts'
import { ownProperty } from './own-property.ts'

/** The kinds of identifier an entity can be known by. */
export type IdentifierType =
  | 'government_id'
  | 'tax_id'
  | 'registration_number'
  | 'bank_account'
  | 'email'
  | 'phone'
  | 'device'
  | 'address'

/** What an identity link says about who the entity is; a relationship link carries no identifier. */
export interface IdentityLinkFact {
  identifier?: { type: IdentifierType; hash: string }
  verification: { status: 'verified' | 'unverified' | 'failed'; verifiedAt?: string }
  createdAt: string
}

/** The identifiers of one type: how often one was given, and when which was last verified or last failed, by hash. */
export interface IdentifierSummary {
  links: number
  verified: Record<string, string>
  failed: Record<string, string>
}

/** The identity summary of an entity, by identifier type. */
export type IdentityState = Partial<Record<IdentifierType, IdentifierSummary>>

// Enough to see a conflict or a pattern of failures; one shared device must not make the state grow without end.
const IDENTIFIERS_KEPT = 8

// 64 bits tell the identifiers of one entity apart; the full hash stays with the identity link.
const HASH_CHARACTERS = 16

/** Takes an identity link into the identity summary. */
export function applyIdentityLink(state: EntityState, link: IdentityLinkFact): EntityState {
  if (!link.identifier) return state
  const { type, hash } = link.identifier
  const known = ownProperty(state.identity, type) ?? { links: 0, verified: {}, failed: {} }
  const summary = { ...known, links: known.links + 1 }
  const { status, verifiedAt = link.createdAt } = link.verification
  // An unverified link is a claim: it neither proves an identifier nor takes an earlier proof away.
  if (status !== 'unverified') summary[status] = withInstant(known[status], hash.slice(0, HASH_CHARACTERS), verifiedAt)
  return { ...state, identity: { ...state.identity, [type]: summary } }
}

function withInstant(instants: Record<string, string>, hash: string, at: string): Record<string, string> {
  const next = { ...instants, [hash]: laterOf(ownProperty(instants, hash), at) }
  return newestOf(next, IDENTIFIERS_KEPT, (instant) => instant)
}
