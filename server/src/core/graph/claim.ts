import { dayOf } from './decay.ts'
import type { Link, LinkBasis } from './link.ts'

/** One dated report about a claim: that an entity has an identifier, or a relationship to another entity. */
export interface Assertion {
  status: LinkBasis['verification']
  /** When the claim was checked; for an unchecked one, when it was made. */
  at: string
  /** The owner's share, 0 to 1; absent means all of it. */
  share?: number
}

/** The current standing of a claim, after all of its assertions. */
export type Standing = Required<Pick<LinkBasis, 'verification' | 'share' | 'since'>>

/**
 * Computes the standing of a claim; null without assertions. The latest check (verified or failed) decides. Unverified
 * assertions decide only where there is no check, so they neither weaken a verified claim nor restore a failed one. `since`
 * is the day of the latest assertion that is not a failure.
 *
 * INVARIANT: the result depends on the set of assertions, not on the order in which they arrived.
 */
export function standingOf(assertions: readonly Assertion[]): Standing | null {
  const checks = assertions.filter(({ status }) => status !== 'unverified')
  const decisive = (checks.length > 0 ? checks : assertions).toSorted(latestFirst)[0]
  if (!decisive) return null
  const days = assertions.filter(({ status }) => status !== 'failed').map(({ at }) => dayOf(at))
  return {
    verification: decisive.status,
    share: decisive.share ?? 1,
    since: Math.max(...(days.length > 0 ? days : [dayOf(decisive.at)])),
  }
}

/** Of two assertions at the same instant, a failure comes first, then the larger share. */
function latestFirst(a: Assertion, b: Assertion): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1
  return Number(b.status === 'failed') - Number(a.status === 'failed') || (b.share ?? 1) - (a.share ?? 1)
}

/**
 * Combines the standings of one identifier at two entities into that of the link between them: failed if either failed,
 * verified if both are, dated by the later. Null if either entity does not have the identifier.
 */
export function sharedStanding(one: Standing | null, other: Standing | null): Standing | null {
  if (!one || !other) return null
  const both = [one.verification, other.verification]
  const unproven = both.includes('failed') ? 'failed' : 'unverified'
  return {
    verification: both.every((verification) => verification === 'verified') ? 'verified' : unproven,
    share: Math.min(one.share, other.share),
    since: Math.max(one.since, other.since),
  }
}

/** Merges links of one type between the same two entities into one as strong as the strongest; null if there is none. */
export function mergeLinks(candidates: readonly (Link | null)[]): Link | null {
  const links = candidates.filter((link) => link !== null)
  const [first] = links
  if (!first) return null
  return {
    ...first,
    verified: links.some(({ verified }) => verified),
    basePpm: Math.max(...links.map(({ basePpm }) => basePpm)),
    since: Math.max(...links.map(({ since }) => since)),
  }
}
