import { type Assertion, sharedStanding, standingOf } from '../core/graph/claim.ts'
import { CROWD_MAX, type LinkType, linkOf } from '../core/graph/link.ts'
import type { IdentifierClaim, IdentifierHolder } from '../store/environment/graph-claims.ts'
import type { ResolvedLink } from './graph-links.ts'

/** How many entities hold an identifier, and how many have verified it. */
export interface HolderCounts {
  holders: number
  verifiedHolders: number
}

/** The identifier that an assertion is about. */
interface Identifier {
  type: LinkType
  hash: string
}

/**
 * Whether an entity counts as a holder: it has asserted the identifier other than by a check that failed. Otherwise, false
 * claims that a check has exposed could still weaken the link between two others. A later failure does not take the entity
 * out of the count, so that the counts do not depend on the order of assertions.
 */
const isHolder = (assertions: readonly Assertion[]) => assertions.some(({ status }) => status !== 'failed')

/**
 * The counts of an identifier after an assertion. Verified links have a count of their own, so that unverified assertions
 * cannot weaken them.
 */
export function countsAfter({ holders, verifiedHolders, own }: IdentifierClaim, assertion: Assertion): HolderCounts {
  return {
    holders: holders + Number(!isHolder(own) && isHolder([assertion])),
    verifiedHolders: verifiedHolders + Number(!own.some(isVerified) && isVerified(assertion)),
  }
}

/** Whether the other holders have to be read: not in a crowd of which no verified link is left, unless it has just become one. */
export function mayChangeLinks(before: IdentifierClaim, after: HolderCounts): boolean {
  const isWithinVerified = after.verifiedHolders > 0 && before.verifiedHolders <= CROWD_MAX
  const hasVerified = after.verifiedHolders > before.verifiedHolders || before.own.some(isVerified)
  return before.holders <= CROWD_MAX || (isWithinVerified && hasVerified)
}

/**
 * The links that an identifier makes or ends after an assertion of one entity: between this one and each other holder, and
 * the links among the others that end because there are too many holders now.
 */
export function identifierLinks(
  { type, hash }: Identifier,
  {
    entity,
    others,
    before,
    after,
  }: { entity: IdentifierHolder; others: readonly IdentifierHolder[] } & Record<'before' | 'after', HolderCounts>,
): ResolvedLink[] {
  const resolve = (one: IdentifierHolder, other: IdentifierHolder): ResolvedLink => {
    const standing = sharedStanding(standingOf(one.assertions), standingOf(other.assertions))
    const link = standing && linkOf({ ...standing, neighbour: other.entityId, type })
    const holders = link?.verified ? after.verifiedHolders : after.holders
    return { from: one.entityId, to: other.entityId, type, claim: hash, link: holders > CROWD_MAX ? null : link }
  }
  const isNewCrowd = becomesCrowd(before.holders, after.holders)
  // In a crowd only the holders that have verified it can be linked.
  const isLinkable = (other: IdentifierHolder) => after.holders <= CROWD_MAX || other.assertions.some(isVerified)
  const own = others.filter((other) => isNewCrowd || isLinkable(other)).map((other) => resolve(entity, other))
  if (!isNewCrowd && !becomesCrowd(before.verifiedHolders, after.verifiedHolders)) return own
  const among = others.flatMap((one, index) => others.slice(index + 1).map((other) => resolve(one, other)))
  return [...own, ...among.filter(({ link }) => link === null)]
}

function becomesCrowd(before: number, after: number): boolean {
  return before <= CROWD_MAX && after > CROWD_MAX
}

function isVerified({ status }: Assertion): boolean {
  return status === 'verified'
}
