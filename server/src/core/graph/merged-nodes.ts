import { byRank, type FollowedLinks, type Link } from './link.ts'
import type { LoadedLinks } from './reach.ts'

/** The entities that each merged entity is read with, itself among them, sorted by id. */
export type MergedEntities = ReadonlyMap<string, readonly string[]>

/** The entity that stands for an entity in the graph: merged entities are one node, named after the first of them. */
export function nodeOf(entityId: string, merged: MergedEntities): string {
  return merged.get(entityId)?.[0] ?? entityId
}

/** The entities of a node. */
export function membersOfNode(node: string, merged: MergedEntities): readonly string[] {
  return merged.get(node) ?? [node]
}

/** These entities with all that they are merged with. */
export function withMerged(entityIds: Iterable<string>, merged: MergedEntities): string[] {
  return [...new Set([...entityIds].flatMap((id) => merged.get(id) ?? [id]))]
}

/**
 * The links between the nodes of which all entities are loaded: those of all entities of a node are its own, and those among
 * them are none.
 */
export function linksOfNodes(links: LoadedLinks, merged: MergedEntities): LoadedLinks {
  if (merged.size === 0) return links
  const nodes = new Set([...links.keys()].map((entityId) => nodeOf(entityId, merged)))
  const loaded = [...nodes].filter((node) => membersOfNode(node, merged).every((id) => links.has(id)))
  return new Map(loaded.map((node) => [node, followedBy(node)]))

  function followedBy(node: string): FollowedLinks {
    const members = membersOfNode(node, merged)
    const all = members.flatMap((from) =>
      Object.values(links.get(from)!)
        .flat()
        .map((link: Link) => ({ from, link })),
    )
    const duplicates = countDuplicates(all, merged)
    const toNodes = (kind: keyof FollowedLinks): Link[] =>
      members
        .flatMap((member) => links.get(member)![kind])
        .map((link) => withoutDuplicates({ ...link, neighbour: nodeOf(link.neighbour, merged) }, duplicates))
        .filter(({ neighbour }) => neighbour !== node)
        .sort(byRank)
    return {
      ranked: toNodes('ranked'),
      adverse: toNodes('adverse'),
      nearAdverse: toNodes('nearAdverse'),
      beyondFanOut: toNodes('beyondFanOut'),
    }
  }
}

/** How many more entities than nodes have each shared identifier, among all that have it and among those that have verified it. */
type Duplicates = ReadonlyMap<string, { all: number; verified: number }>

/** Of the links that are followed from one node: every other holder of an identifier is at the far end of one. */
function countDuplicates(followed: readonly { from: string; link: Link }[], merged: MergedEntities): Duplicates {
  const shared = followed.filter(({ link: { claim, holders = 0 } }) => claim !== undefined && holders > 2)
  const surplusOf = (some: typeof shared) => {
    const entities = new Set(some.flatMap(({ from, link }) => [from, link.neighbour]))
    return entities.size - new Set([...entities].map((id) => nodeOf(id, merged))).size
  }
  return new Map(
    [...Map.groupBy(shared, ({ link }) => link.claim!)].map(([claim, some]) => [
      claim,
      { all: surplusOf(some), verified: surplusOf(some.filter(({ link }) => link.verified)) },
    ]),
  )
}

/** Merged entities that share an identifier with others are one holder of it. */
function withoutDuplicates(link: Link, duplicates: Duplicates): Link {
  const surplus = link.claim === undefined ? undefined : duplicates.get(link.claim)
  if (!surplus || link.holders === undefined) return link
  return { ...link, holders: link.holders - (link.verified ? surplus.verified : surplus.all) }
}
