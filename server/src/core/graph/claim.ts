import { dayOf } from './decay.ts'
import type { Link, LinkClaim } from './link.ts'

/** What was once said of a claim, with the instant at which it was checked or, unchecked, stated. */
export interface Statement {
  status: LinkClaim['verification']
  at: string
  /** The owner's share, 0 to 1; all of it where none was said. */
  share?: number
}

/** How a claim stands after all that was said of it. */
export type Standing = Required<Pick<LinkClaim, 'verification' | 'share' | 'since'>>

/**
 * The latest verdict counts, and a bare claim only where there is none: it takes no proof away and brings nothing back that
 * failed. A claim is as old as the last statement that did not fail it. Null when nothing was said.
 *
 * INVARIANT: depends on what was said, never on the order in which it came in.
 */
export function standingOf(statements: readonly Statement[]): Standing | null {
  const verdicts = statements.filter(({ status }) => status !== 'unverified')
  const decisive = (verdicts.length > 0 ? verdicts : statements).toSorted(latestFirst)[0]
  if (!decisive) return null
  const days = statements.filter(({ status }) => status !== 'failed').map(({ at }) => dayOf(at))
  return {
    verification: decisive.status,
    share: decisive.share ?? 1,
    since: Math.max(...(days.length > 0 ? days : [dayOf(decisive.at)])),
  }
}

/** At one instant a failure takes a success back, and the larger share holds. */
function latestFirst(a: Statement, b: Statement): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1
  return Number(b.status === 'failed') - Number(a.status === 'failed') || (b.share ?? 1) - (a.share ?? 1)
}

/** How it stands that two have the same identifier: it fails with either, is verified with both, and as old as the later. */
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

/** Several claims of one link are one link, as strong as the strongest of them; null when none of them stands. */
export function mergeLinks(claims: readonly (Link | null)[]): Link | null {
  const links = claims.filter((link) => link !== null)
  const [first] = links
  if (!first) return null
  return {
    ...first,
    verified: links.some(({ verified }) => verified),
    basePpm: Math.max(...links.map(({ basePpm }) => basePpm)),
    since: Math.max(...links.map(({ since }) => since)),
  }
}
