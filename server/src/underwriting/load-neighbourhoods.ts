import type { FollowedLinks } from '../core/graph/link.ts'
import { linksOfNodes, type MergedEntities, membersOfNode, nodeOf } from '../core/graph/merged-nodes.ts'
import { type LoadedLinks, linksToLoad } from '../core/graph/reach.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'

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

/** The links between nodes, in which merged entities are one, and which entities are merged. */
export interface MergedNeighbourhoods {
  links: LoadedLinks
  merged: MergedEntities
}

/** The same with merged entities as one node: one more read for each, of which entities are merged. */
export async function loadMergedNeighbourhoods(
  store: EnvironmentStore,
  { organizationId, entityIds, today }: Wanted,
): Promise<MergedNeighbourhoods> {
  const loaded = new Map<string, FollowedLinks>()
  const merged = new Map<string, readonly string[]>()
  const asked = new Set<string>()
  await askFor(entityIds)
  for (;;) {
    const links = linksOfNodes(loaded, merged)
    const wanted = new Set(
      entityIds.flatMap((entityId) => linksToLoad({ entityId: nodeOf(entityId, merged), links, today })),
    )
    if (wanted.size === 0) return { links, merged }
    const members = [...wanted].flatMap((node) => membersOfNode(node, merged))
    const followed = await store.graph.followedLinks(organizationId, members, today)
    for (const [entityId, own] of followed) loaded.set(entityId, own)
    await askFor([...followed.values()].flatMap(neighboursIn))
  }

  async function askFor(ids: readonly string[]): Promise<void> {
    const unasked = [...new Set(ids)].filter((id) => !asked.has(id))
    for (const id of unasked) asked.add(id)
    for (const group of (await store.entityMerges.groupsOf(organizationId, unasked)).values())
      for (const member of group) merged.set(member, group)
  }
}

function neighboursIn({ ranked, adverse, nearAdverse }: FollowedLinks): string[] {
  return [...ranked, ...adverse, ...nearAdverse].map(({ neighbour }) => neighbour)
}
