import { mergeLinks, type Statement, sharedStanding, standingOf } from '../core/graph/claim.ts'
import { expiryDay, type Link, type LinkType, linkOf } from '../core/graph/link.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { RowOf } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'

/** A link to another entity as it stands; null when nothing that was said of it holds. */
export interface Tie {
  to: string
  type: LinkType
  link: Link | null
}

/** What each of two ends has said of one claim. */
interface SaidByEnds {
  own: readonly Statement[]
  theirs: readonly Statement[]
}

/** A relationship that either end, or both, have stated: each has its latest word, and the stronger of both holds. */
export function statedTie(to: string, type: LinkType, { own, theirs }: SaidByEnds): Tie {
  const words = [own, theirs].map((said) => linkFrom({ to, type }, standingOf(said)))
  return { to, type, link: mergeLinks(words) }
}

/** What two have of one type in common; several identifiers make one link, as strong as the strongest of them. */
export function sharedTie(to: string, type: LinkType, identifiers: readonly SaidByEnds[]): Tie {
  const links = identifiers.map(({ own, theirs }) =>
    linkFrom({ to, type }, sharedStanding(standingOf(own), standingOf(theirs))),
  )
  return { to, type, link: mergeLinks(links) }
}

function linkFrom({ to, type }: Pick<Tie, 'to' | 'type'>, standing: ReturnType<typeof standingOf>): Link | null {
  return standing && linkOf({ ...standing, neighbour: to, type })
}

/** Writes ties as they stand, from both their ends; one that carries nothing any more is taken back. */
export function tieChange(
  ties: readonly Tie[],
  {
    organizationId,
    from,
    adverse,
    today,
  }: {
    organizationId: string
    from: string
    /** Which of the entities have had bad outcomes. */
    adverse: ReadonlySet<string>
    today: number
  },
): Required<Pick<Change, 'links' | 'removedLinks'>> {
  const links: RowOf<'graph_links'>[] = []
  const removedLinks: NonNullable<Change['removedLinks']> = []
  for (const { to, type, link } of ties) {
    const ends = [
      { org_id: organizationId, entity_id: from, neighbour_id: to, type },
      { org_id: organizationId, entity_id: to, neighbour_id: from, type },
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

/** Which of these entities have had bad outcomes. */
export async function adverseAmong(
  store: EnvironmentStore,
  organizationId: string,
  entityIds: readonly string[],
): Promise<Set<string>> {
  const trackRecords = await store.trackRecords(organizationId, entityIds)
  return new Set([...trackRecords].filter(([, { isAdverse }]) => isAdverse).map(([entityId]) => entityId))
}
