import type { IdentityLinkFact } from '../core/facts/entity-state.ts'
import { dayOf } from '../core/graph/decay.ts'
import { expiryDay, type LinkClaim, linkOf } from '../core/graph/link.ts'
import type { RowOf } from '../store/tables.ts'

/** Two entities and what links them. */
export interface LinkBetween extends Omit<LinkClaim, 'neighbour' | 'since'> {
  organizationId: string
  from: string
  to: string
  /** Which of the two have had bad outcomes. */
  adverse: ReadonlySet<string>
  now: string
}

/** The rows of one link, seen from both its ends; none when the claim has failed its check or carries nothing. */
export function linkRows({ organizationId, from, to, adverse, now, ...claim }: LinkBetween): RowOf<'graph_links'>[] {
  const link = linkOf({ ...claim, neighbour: to, since: dayOf(now) })
  if (!link || expiryDay(link) <= link.since) return []
  const { type, verified, basePpm: base_ppm, since } = link
  const shared = { org_id: organizationId, type, verified, base_ppm, since, expires: expiryDay(link) }
  return [
    { ...shared, entity_id: from, neighbour_id: to, to_adverse: adverse.has(to) },
    { ...shared, entity_id: to, neighbour_id: from, to_adverse: adverse.has(from) },
  ]
}

/** A shared identifier counts as verified only when both have verified it. */
export function sharedVerification(
  own: IdentityLinkFact['verification']['status'],
  other: boolean,
): LinkClaim['verification'] {
  if (own === 'failed') return 'failed'
  return own === 'verified' && other ? 'verified' : 'unverified'
}
