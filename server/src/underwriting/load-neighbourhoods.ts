import type { FollowedLinks } from '../core/graph/link.ts'
import { linksToLoad } from '../core/graph/reach.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'

/** Loads the links of some entities and of their neighbours, as far as a walk follows them: two reads for all together. */
export async function loadNeighbourhoods(
  store: EnvironmentStore,
  { organizationId, entityIds, today }: { organizationId: string; entityIds: readonly string[]; today: number },
): Promise<Map<string, FollowedLinks>> {
  const links = new Map<string, FollowedLinks>()
  for (;;) {
    const wanted = new Set(entityIds.flatMap((entityId) => linksToLoad({ entityId, links, today })))
    if (wanted.size === 0) return links
    for (const [entityId, followed] of await store.graph.followedLinks(organizationId, [...wanted], today))
      links.set(entityId, followed)
  }
}
