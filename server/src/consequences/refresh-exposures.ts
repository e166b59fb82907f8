import { dayOf } from '../core/graph/decay.ts'
import { describeTrust, summarizeExposure } from '../core/graph/describe-trust.ts'
import { exposureOf } from '../core/graph/exposure.ts'
import { membersOfNode, nodeOf, withMerged } from '../core/graph/merged-nodes.ts'
import { type ReachedEntity, reachOf } from '../core/graph/reach.ts'
import { NO_TRACK_RECORD, trackRecordOf } from '../core/graph/track-record.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ofOrganization, type RowOf } from '../store/schema/tables.ts'
import { readNodes } from '../underwriting/graph-nodes.ts'
import { type LoadedNodes, linksBetweenNodes, loadMergedNeighbourhoods } from '../underwriting/load-neighbourhoods.ts'

/** The entities whose exposure is computed, and the instant it is computed for. */
export interface ExposuresToRefresh {
  organizationId: string
  entityIds: readonly string[]
  now: string
  /** The causes that ask for it; they are deleted in the statement that writes the result. */
  causes: readonly RowOf<'consequences'>[]
}

/**
 * Computes and writes the exposures of some entities, and of those that they are merged with, which have the same. Three batched
 * reads serve all of them together: their links, their neighbours' links, and the track records, each with which of these
 * entities are merged. Each is bounded by the fan-out, not by the degree of the entities.
 */
export async function refreshExposures(
  store: EnvironmentStore,
  { organizationId, entityIds, now, causes }: ExposuresToRefresh,
): Promise<void> {
  const today = dayOf(now)
  const readNumber = await store.graph.nextExposureRead()
  const loaded = await loadMergedNeighbourhoods(store, { organizationId, entityIds, today })
  const near = reachesOf(entityIds, loaded, today)
  const reached = [...new Set([...near].flatMap(([node, reach]) => [node, ...reach.keys()]))]
  const known = await readNodes(store, organizationId, withMerged(reached, loaded.merged))
  // Whether an entity at the far end of a second link is merged is known only now.
  const merged = new Map([...loaded.merged, ...known.merged])
  const reaches = merged.size === 0 ? near : reachesOf(entityIds, { ...loaded, merged }, today)
  const trackRecords = new Map(
    [...reaches].flatMap(([node, reach]) => [node, ...reach.keys()]).map((node) => [node, recordOf(node)]),
  )
  const rows = [...reaches].flatMap(([node, reach]) => {
    const exposure = exposureOf({ entityId: node, asOf: now, reach, trackRecords })
    const trust = describeTrust(exposure, trackRecords.get(node) ?? NO_TRACK_RECORD)
    const [summary, described] = [JSON.stringify(summarizeExposure(exposure)), JSON.stringify(trust)]
    return membersOfNode(node, merged).map((id) => ({ entity_id: id, summary, trust: described, as_of: now }))
  })
  await store.graph.writeExposures(ofOrganization(organizationId, rows), { readNumber, done: causes })

  /** The track record of a node, over the outcomes of all its entities. */
  function recordOf(node: string) {
    return trackRecordOf(
      membersOfNode(node, merged).flatMap((id) => known.records.get(id)?.tallies ?? []),
      today,
    )
  }
}

/** What each node of some entities reaches. */
function reachesOf(
  entityIds: readonly string[],
  loaded: LoadedNodes,
  today: number,
): Map<string, Map<string, ReachedEntity>> {
  const links = linksBetweenNodes(loaded)
  const nodes = new Set(entityIds.map((id) => nodeOf(id, loaded.merged)))
  return new Map([...nodes].map((node) => [node, reachOf({ entityId: node, links, today })]))
}
