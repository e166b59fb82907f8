import { hasAdverse, isHub, type LoadedLinks, linksBehind, rankedLinks } from './reach.ts'

/**
 * Whose exposure an outcome of one entity may change: its neighbours, and those for whom a neighbour is on the way.
 *
 * Who follows whom is not symmetric: an entity with more links than are followed is still followed by everyone whose own
 * list it is on. So `neighbours` are all of them, or one page of them; each brings at most 40 others, and 160 more unless
 * it is a hub. Those behind even these see the change when their exposure is next computed.
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
    for (const link of linksBehind(links, neighbour)) affected.add(link.neighbour)
  }
  return affected
}

/**
 * Whose exposure a link may change by being made, changed or removed: both ends, and everyone for whom either of them is
 * on the way, before or after. Those are on the lists of the ends; further behind, an end is on the way to harm only. A hub
 * counts like any other here, because the link may just have made or unmade it.
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
  /** Which of the ends have adverse evidence. */
  adverse: ReadonlySet<string>
}): Set<string> {
  const affected = new Set(ends)
  for (const links of [before, after]) {
    for (const end of ends) {
      for (const link of rankedLinks(links, end)) affected.add(link.neighbour)
      const leadsToHarm = hasAdverse(links, end) || ends.some((other) => other !== end && adverse.has(other))
      if (!leadsToHarm) continue
      for (const link of linksBehind(links, end)) affected.add(link.neighbour)
    }
  }
  return affected
}
