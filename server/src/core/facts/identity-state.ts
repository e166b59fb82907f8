import type { IdentifierType, VerificationStatus } from '../vocabularies.ts'
import type { EntityState } from './entity-state.ts'
import { newestOf } from './newest-of.ts'
import { ownProperty } from './own-property.ts'

/** What an identity link says about who the entity is; a relationship link carries no identifier. */
export interface IdentityLinkFact {
  identifier?: { type: IdentifierType; hash: string; issuer?: string }
  verification: { status: VerificationStatus; verifiedAt?: string }
  createdAt: string
}

/**
 * The identifiers of one type: how often one was given, and when which was last found true or false, by hash.
 *
 * INVARIANT: a hash has one verdict, its latest; so forgetting an identifier can never bring an overruled verdict back.
 */
export interface IdentifierSummary {
  links: number
  verified: Record<string, string>
  failed: Record<string, string>
  /** Who issued those of them that say so; the same identifier always has the same issuer, which its hash covers. */
  issuers?: Record<string, string>
  /** That there were verdicts on more identifiers than are kept. */
  overflowed?: true
}

/** The identity summary of an entity, by identifier type. */
export type IdentityState = Partial<Record<IdentifierType, IdentifierSummary>>

// Enough to see a conflict or a pattern of failures; one shared device must not make the state grow without end.
const IDENTIFIERS_KEPT = 8

// 64 bits tell the identifiers of one entity apart; the full hash stays with the identity link.
const HASH_CHARACTERS = 16

interface Verdict {
  hash: string
  issuer: string | undefined
  status: Exclude<VerificationStatus, 'unverified'>
  at: string
}

/** Takes an identity link into the identity summary. */
export function applyIdentityLink(state: EntityState, link: IdentityLinkFact): EntityState {
  if (!link.identifier) return state
  const { type, hash, issuer } = link.identifier
  const known = ownProperty(state.identity, type) ?? { links: 0, verified: {}, failed: {} }
  const given = { ...known, links: known.links + 1 }
  const { status, verifiedAt: at = link.createdAt } = link.verification
  // An unverified link is a claim: it neither proves an identifier nor takes an earlier proof away.
  const summary =
    status === 'unverified'
      ? given
      : withVerdict(given, { hash: hash.slice(0, HASH_CHARACTERS), issuer: issuer && spelledAlike(issuer), status, at })
  return { ...state, identity: { ...state.identity, [type]: summary } }
}

/**
 * Keeps the identifiers with the newest verdicts, whatever these say. Later failures of others may so crowd a proof out,
 * but a forgotten failure cannot come back as a proof: an old proof that comes in late is older than all that are kept.
 */
function withVerdict(summary: IdentifierSummary, { hash, issuer, status, at }: Verdict): IdentifierSummary {
  const knownAt = ownProperty(summary.verified, hash) ?? ownProperty(summary.failed, hash) ?? ''
  // A failure of the same instant as a success takes the success back.
  if (at < knownAt || (at === knownAt && status === 'verified')) return summary
  const { [hash]: _verified, ...verified } = summary.verified
  const { [hash]: _failed, ...failed } = summary.failed
  const all = { ...verified, ...failed, [hash]: at }
  const kept = newestOf(all, IDENTIFIERS_KEPT, (instant) => instant)
  const issuers = among(kept, { ...summary.issuers, ...(issuer && { [hash]: issuer }) })
  return {
    links: summary.links,
    verified: among(kept, status === 'verified' ? { ...verified, [hash]: at } : verified),
    failed: among(kept, status === 'failed' ? { ...failed, [hash]: at } : failed),
    ...(Object.keys(issuers).length > 0 && { issuers }),
    ...((summary.overflowed || kept !== all) && { overflowed: true }),
  }
}

function among(kept: Record<string, string>, record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([hash]) => Object.hasOwn(kept, hash)))
}

/** One spelling for one issuer, as in the hash of the identifier. */
function spelledAlike(issuer: string): string {
  return issuer.trim().toLowerCase()
}
