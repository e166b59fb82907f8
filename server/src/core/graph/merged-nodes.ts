import type { FollowedLinks, Link } from './link.ts'
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

/** The links between nodes: those of all entities of a node are its own, and those among them are none. */
export function linksOfNodes(links: LoadedLinks, merged: MergedEntities): LoadedLinks {
  if (merged.size === 0) return links
  const byNode = Map.groupBy(links.keys(), (entityId) => nodeOf(entityId, merged))
  return new Map([...byNode].map(([node, entityIds]) => [node, followedBy(node, entityIds)]))

  function followedBy(node: string, entityIds: readonly string[]): FollowedLinks {
    const followed = entityIds.toSorted().map((entityId) => links.get(entityId)!)
    const toNodes = (kind: keyof FollowedLinks): Link[] =>
      followed
        .flatMap((own) => own[kind])
        .flatMap((link) => {
          const neighbour = nodeOf(link.neighbour, merged)
          return neighbour === node ? [] : [{ ...link, neighbour }]
        })
    return {
      ranked: toNodes('ranked'),
      adverse: toNodes('adverse'),
      nearAdverse: toNodes('nearAdverse'),
      beyondFanOut: toNodes('beyondFanOut'),
    }
  }
}
