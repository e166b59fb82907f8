import { mergeLinks, standingOf } from '../core/graph/claim.ts'
import { expiryDay, type Link, type LinkType, linkOf } from '../core/graph/link.ts'
import type { AssertionsOfEnds } from '../store/environment/graph-claims.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'

/** The link between two entities that follows from all assertions about it; null when none of them supports one. */
export interface ResolvedLink {
  from: string
  to: string
  type: LinkType
  /** The hash of the identifier that makes it; '' for a relationship. */
  claim: string
  link: Link | null
}

/**
 * Resolves a relationship between two entities: the standing of each end's own assertions, merged into the stronger. A
 * relationship that failed at either end links nothing.
 */
export function relationshipLink(
  { from, to, type }: Pick<ResolvedLink, 'from' | 'to' | 'type'>,
  { own, theirs }: AssertionsOfEnds,
): ResolvedLink {
  const standings = [own, theirs].map(standingOf)
  const hasFailed = standings.some((standing) => standing?.verification === 'failed')
  const links = standings.map((standing) => standing && linkOf({ ...standing, neighbour: to, type }))
  return { from, to, type, claim: '', link: hasFailed ? null : mergeLinks(links) }
}

/** The rows that store resolved links, one from each end; a link that is gone or has expired is removed instead. */
export function linkChange(
  resolved: readonly ResolvedLink[],
  {
    adverse,
    today,
  }: {
    /** Which of the entities have bad outcomes, or are merged with one that has. */
    adverse: ReadonlySet<string>
    today: number
  },
): Required<Pick<Change, 'links' | 'removedLinks'>> {
  const links: NewRow<'graph_links'>[] = []
  const removedLinks: NonNullable<Change['removedLinks']> = []
  for (const { from, to, type, claim, link } of resolved) {
    const ends = [
      { entity_id: from, neighbour_id: to, type, claim },
      { entity_id: to, neighbour_id: from, type, claim },
    ]
    if (!link || expiryDay(link) <= today) {
      removedLinks.push(...ends)
      continue
    }
    const { verified, basePpm: base_ppm, since } = link
    const shared = { verified, base_ppm, since, expires: expiryDay(link) }
    links.push(...ends.map((end) => ({ ...end, ...shared, to_adverse: adverse.has(end.neighbour_id) })))
  }
  return { links, removedLinks }
}
