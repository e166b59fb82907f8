import { type MergedEntities, withMerged } from '../core/graph/merged-nodes.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { StoredTrackRecord } from '../store/environment/graph.ts'

/** What some entities are in the trust graph, in which merged entities are one node. */
export interface GraphNodes {
  /** Which of them are merged. */
  merged: MergedEntities
  /** The track records of these entities and of all that they are merged with. */
  records: ReadonlyMap<string, StoredTrackRecord>
  /** Which of all these have bad outcomes, or are merged with one that has. */
  adverse: ReadonlySet<string>
}

/** Reads the nodes of some entities: one read, and a second only if some of them are merged. */
export async function readNodes(
  store: EnvironmentStore,
  organizationId: string,
  entityIds: readonly string[],
): Promise<GraphNodes> {
  const { records, mergeIds } = await store.graph.trackRecordsAndMerges(organizationId, entityIds)
  const merged = await readMerged(store, organizationId, mergeIds)
  const asked = new Set(entityIds)
  const others = [...merged.keys()].filter((id) => !asked.has(id))
  for (const [id, record] of await store.graph.trackRecords(organizationId, others)) records.set(id, record)
  const bad = [...records].filter(([, { isAdverse }]) => isAdverse).map(([id]) => id)
  return { merged, records, adverse: new Set(withMerged(bad, merged)) }
}

/** Which entities are merged with those whose newest steps these are. */
export async function readMerged(
  store: EnvironmentStore,
  organizationId: string,
  mergeIds: ReadonlyMap<string, string>,
): Promise<Map<string, readonly string[]>> {
  if (mergeIds.size === 0) return new Map()
  const groups = await store.entityMerges.groupsOfSteps(organizationId, mergeIds)
  return new Map([...groups.values()].flatMap((members) => members.map((id) => [id, members] as const)))
}
