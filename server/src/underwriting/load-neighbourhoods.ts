import type { FollowedLinks } from '../core/graph/link.ts'
import { linksOfNodes, type MergedEntities, nodeOf, withMerged } from '../core/graph/merged-nodes.ts'
import { type LoadedLinks, linksToLoad } from '../core/graph/reach.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { readMerged } from './graph-nodes.ts'

/** Whose links are loaded, and the day on which they are followed. */
interface Wanted {
  organizationId: string
  entityIds: readonly string[]
  today: number
}

/** Loads the links of some entities and of their neighbours, as far as a walk follows them: two reads for all together. */
export async function loadNeighbourhoods(
  store: EnvironmentStore,
  { organizationId, entityIds, today }: Wanted,
): Promise<Map<string, FollowedLinks>> {
  const links = new Map<string, FollowedLinks>()
  for (;;) {
    const wanted = new Set(entityIds.flatMap((entityId) => linksToLoad({ entityId, links, today })))
    if (wanted.size === 0) return links
    for (const [entityId, followed] of await store.graph.followedLinks(organizationId, [...wanted], today))
      links.set(entityId, followed)
  }
}

/** Links that were loaded by entity, and which entities are merged: of the loaded ones, and of those that share an identifier. */
export interface LoadedNodes {
  links: ReadonlyMap<string, FollowedLinks>
  merged: MergedEntities
}

/** The links between the nodes that were loaded. */
export function linksBetweenNodes({ links, merged }: LoadedNodes): LoadedLinks {
  return linksOfNodes(links, merged)
}

/** Loads the links of the nodes of some entities: one read, and another one only if some are merged with entities not among them. */
export async function loadNodes(
  store: EnvironmentStore,
  { organizationId, entityIds, today }: Wanted,
  before: LoadedNodes = { links: new Map(), merged: new Map() },
): Promise<LoadedNodes> {
  const [links, merged] = [new Map(before.links), new Map(before.merged)]
  for (;;) {
    const missing = withMerged(entityIds, merged).filter((id) => !links.has(id))
    if (missing.length === 0) return { links, merged }
    const read = await store.graph.followedLinksAndMerges(organizationId, missing, today)
    for (const [entityId, followed] of read.links) links.set(entityId, followed)
    for (const [entityId, group] of await readMerged(store, organizationId, read.mergeIds)) merged.set(entityId, group)
  }
}

/** Loads the links of the nodes of some entities and of their neighbours: two reads, as long as no others are merged with these. */
export async function loadMergedNeighbourhoods(store: EnvironmentStore, wanted: Wanted): Promise<LoadedNodes> {
  let nodes: LoadedNodes = { links: new Map(), merged: new Map() }
  for (;;) {
    const links = linksBetweenNodes(nodes)
    const entityIds = wanted.entityIds.flatMap((id) =>
      linksToLoad({ entityId: nodeOf(id, nodes.merged), links, today: wanted.today }),
    )
    if (entityIds.length === 0) return nodes
    nodes = await loadNodes(store, { ...wanted, entityIds }, nodes)
  }
}
