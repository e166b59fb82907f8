import { mergeLinks, sharedStanding, standingOf } from '../core/graph/claim.ts'
import { expiryDay, type Link, type LinkType, linkOf } from '../core/graph/link.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { AssertionsOfEnds } from '../store/queries/graph-claims.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'

/** The link to another entity that follows from all assertions about it; null when none of them supports one. */
export interface ResolvedLink {
  to: string
  type: LinkType
  link: Link | null
}

/** Resolves a relationship between two entities: the standing of each end's own assertions, merged into the stronger. */
export function relationshipLink(to: string, type: LinkType, { own, theirs }: AssertionsOfEnds): ResolvedLink {
  const links = [own, theirs].map((assertions) => linkFrom({ to, type }, standingOf(assertions)))
  return { to, type, link: mergeLinks(links) }
}

/** Resolves the identifiers of one type that two entities share into one link, as strong as the strongest of them. */
export function sharedIdentifierLink(
  to: string,
  type: LinkType,
  identifiers: readonly AssertionsOfEnds[],
): ResolvedLink {
  const links = identifiers.map(({ own, theirs }) =>
    linkFrom({ to, type }, sharedStanding(standingOf(own), standingOf(theirs))),
  )
  return { to, type, link: mergeLinks(links) }
}

function linkFrom(
  { to, type }: Pick<ResolvedLink, 'to' | 'type'>,
  standing: ReturnType<typeof standingOf>,
): Link | null {
  return standing && linkOf({ ...standing, neighbour: to, type })
}

/** The rows that store resolved links, one from each end; a link that is gone or has expired is removed instead. */
export function linkChange(
  resolved: readonly ResolvedLink[],
  {
    from,
    adverse,
    today,
  }: {
    from: string
    /** Which of the entities have bad outcomes. */
    adverse: ReadonlySet<string>
    today: number
  },
): Required<Pick<Change, 'links' | 'removedLinks'>> {
  const links: NewRow<'graph_links'>[] = []
  const removedLinks: NonNullable<Change['removedLinks']> = []
  for (const { to, type, link } of resolved) {
    const ends = [
      { entity_id: from, neighbour_id: to, type },
      { entity_id: to, neighbour_id: from, type },
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

/** Which of these entities have bad outcomes. */
export async function adverseAmong(
  store: EnvironmentStore,
  organizationId: string,
  entityIds: readonly string[],
): Promise<Set<string>> {
  const trackRecords = await store.trackRecords(organizationId, entityIds)
  return new Set([...trackRecords].filter(([, { isAdverse }]) => isAdverse).map(([entityId]) => entityId))
}
