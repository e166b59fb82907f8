import { plainSpelling } from '../plain-spelling.ts'
import { ownProperty } from '../stored-json.ts'
import type { IdentifierType, VerificationStatus } from '../vocabularies.ts'
import { newestOf } from './newest-of.ts'

/** An identity link as far as identity is concerned; a link that states a relationship has no identifier. */
export interface IdentityLinkFact {
  identifier?: { type: IdentifierType; hash: string; issuer?: string }
  verification: { status: VerificationStatus; verifiedAt?: string }
  createdAt: string
}

/**
 * The identifiers of one type: how many links named one, and by hash when each was last verified or failed its check.
 *
 * INVARIANT: a hash is in `verified` or in `failed`, never in both; its latest check decides. So evicting an identifier
 * cannot bring an overruled check back.
 */
export interface IdentifierSummary {
  links: number
  verified: Record<string, string>
  failed: Record<string, string>
  /** The issuer by hash, where one was named. The hash covers the issuer, so one hash has one issuer. */
  issuers?: Record<string, string>
  /** Set once more identifiers were checked than are kept. */
  overflowed?: true
}

/** The identity summary of an entity, by identifier type. */
export type IdentityState = Partial<Record<IdentifierType, IdentifierSummary>>

/** Enough to see a conflict or a pattern of failures, while the state stays bounded however many devices are linked. */
export const IDENTIFIERS_KEPT = 8

// 64 bits distinguish the identifiers of one entity; the full hash stays with the identity link.
const HASH_CHARACTERS = 16

/** One check of an identifier. */
interface Check {
  hash: string
  issuer: string | undefined
  status: Exclude<VerificationStatus, 'unverified'>
  at: string
}

/** Adds an identity link to the identity summary. */
export function addIdentityLink(state: IdentityState, link: IdentityLinkFact): IdentityState {
  if (!link.identifier) return state
  const { type, hash, issuer } = link.identifier
  const known = ownProperty(state, type) ?? { links: 0, verified: {}, failed: {} }
  const given = { ...known, links: known.links + 1 }
  const { status, verifiedAt: at = link.createdAt } = link.verification
  // An unverified assertion neither verifies an identifier nor revokes an earlier check.
  const summary =
    status === 'unverified'
      ? given
      : withCheck(given, {
          hash: hash.slice(0, HASH_CHARACTERS),
          issuer: issuer && normalizeIssuer(issuer),
          status,
          at,
        })
  return { ...state, [type]: summary }
}

/**
 * Keeps the identifiers with the newest checks, verified or failed.
 *
 * Later failures of other identifiers may evict a verified one. An evicted failure cannot come back as verified: an
 * older check that arrives late is older than every check that is kept.
 */
function withCheck(summary: IdentifierSummary, { hash, issuer, status, at }: Check): IdentifierSummary {
  const knownAt = ownProperty(summary.verified, hash) ?? ownProperty(summary.failed, hash) ?? ''
  // At the same instant, failed wins over verified.
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

/** Normalizes the spelling of an issuer, for this summary and for the hash of the identifier. */
export function normalizeIssuer(issuer: string): string {
  return plainSpelling(issuer)
}
