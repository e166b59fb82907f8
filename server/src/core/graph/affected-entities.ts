import { hasAdverse, isHub, type LoadedLinks, linksBeyondFanOut, rankedLinks } from './reach.ts'

/**
 * The entities whose exposure an outcome of one entity may change: its neighbours, and the entities that have a path
 * through a neighbour.
 *
 * Following is not symmetric: an entity whose degree exceeds the fan-out is still followed by every entity that ranks it.
 * So `neighbours` must be all neighbours, or one page of them, not only the ranked ones. Each adds at most 40 others, and
 * 160 more unless it is a hub. Entities beyond these see the change when their exposure is next computed.
 */
export function affectedByOutcome({
  neighbours,
  links,
}: {
  neighbours: Iterable<string>
  links: LoadedLinks
}): Set<string> {
  const affected = new Set<string>()
  for (const neighbour of neighbours) {
    affected.add(neighbour)
    for (const link of rankedLinks(links, neighbour)) affected.add(link.neighbour)
    if (isHub(links, neighbour)) continue
    for (const link of linksBeyondFanOut(links, neighbour)) affected.add(link.neighbour)
  }
  return affected
}

/**
 * The entities whose exposure may change when a link is made, changed or removed: both ends, and the entities that have a
 * path through an end, before or after. Those are the ranked neighbours of the ends and, if the path leads to an adverse
 * entity, the neighbours beyond the fan-out. Hubs are not left out, because the link may be what makes or unmakes a hub.
 */
export function affectedByLink({
  ends,
  before,
  after,
  adverse,
}: {
  ends: readonly string[]
  before: LoadedLinks
  after: LoadedLinks
  /** Which of the ends are adverse. */
  adverse: ReadonlySet<string>
}): Set<string> {
  const affected = new Set(ends)
  for (const links of [before, after]) {
    for (const end of ends) {
      for (const link of rankedLinks(links, end)) affected.add(link.neighbour)
      const leadsToAdverse = hasAdverse(links, end) || ends.some((other) => other !== end && adverse.has(other))
      if (!leadsToAdverse) continue
      for (const link of linksBeyondFanOut(links, end)) affected.add(link.neighbour)
    }
  }
  return affected
}
