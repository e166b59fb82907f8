import { type LoadedLinks, rankedLinks } from './reach.ts'

/**
 * Whose exposure an outcome of one entity may change: its neighbours, and those for whom a neighbour is on the way.
 *
 * Who follows whom is not symmetric: an entity with more links than are followed is still followed by everyone whose own
 * list it is on. So `neighbours` are all of them, or one page of them; each brings at most 40 others.
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
  }
  return affected
}

/**
 * Whose exposure a link may change by being made, changed or removed: both ends, and everyone for whom either of them is
 * on the way, before or after. Those are on the lists of the ends, because an entity lets pass only those whose links rank with it.
 */
export function affectedByLink({
  ends,
  before,
  after,
}: {
  ends: readonly string[]
  before: LoadedLinks
  after: LoadedLinks
}): Set<string> {
  const lists = ends.flatMap((end) => [...rankedLinks(before, end), ...rankedLinks(after, end)])
  return new Set([...ends, ...lists.map(({ neighbour }) => neighbour)])
}
