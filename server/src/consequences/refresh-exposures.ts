import { dayOf } from '../core/graph/decay.ts'
import { describeTrust, summarizeExposure } from '../core/graph/describe-trust.ts'
import { exposureOf } from '../core/graph/exposure.ts'
import { type MergedEntities, membersOfNode, nodeOf } from '../core/graph/merged-nodes.ts'
import { type ReachedEntity, reachOf } from '../core/graph/reach.ts'
import { NO_TRACK_RECORD, type TrackRecord, trackRecordOf } from '../core/graph/track-record.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ofOrganization, type RowOf } from '../store/schema/tables.ts'
import { loadMergedNeighbourhoods } from '../underwriting/load-neighbourhoods.ts'

/** The entities whose exposure is computed, and the instant it is computed for. */
export interface ExposuresToRefresh {
  organizationId: string
  entityIds: readonly string[]
  now: string
  /** The causes that ask for it; they are deleted in the statement that writes the result. */
  causes: readonly RowOf<'consequences'>[]
}

/**
 * Computes and writes the exposures of some entities, and of those that they are merged with, which have the same. Six batched
 * reads serve all of them together: their links, their neighbours' links, which of them are merged, and the track records. Each
 * is bounded by the fan-out, not by the degree of the entities.
 */
export async function refreshExposures(
  store: EnvironmentStore,
  { organizationId, entityIds, now, causes }: ExposuresToRefresh,
): Promise<void> {
  const today = dayOf(now)
  const readNumber = await store.graph.nextExposureRead()
  const { links, merged } = await loadMergedNeighbourhoods(store, { organizationId, entityIds, today })
  const nodes = [...new Set(entityIds.map((entityId) => nodeOf(entityId, merged)))]
  const reaches = new Map(nodes.map((node) => [node, reachOf({ entityId: node, links, today })]))
  const trackRecords = await loadTrackRecords(store, { organizationId, reaches, merged, today })
  const rows = nodes.flatMap((node) => {
    const exposure = exposureOf({ entityId: node, asOf: now, reach: reaches.get(node)!, trackRecords })
    const trust = describeTrust(exposure, trackRecords.get(node) ?? NO_TRACK_RECORD)
    const [summary, described] = [JSON.stringify(summarizeExposure(exposure)), JSON.stringify(trust)]
    return membersOfNode(node, merged).map((id) => ({ entity_id: id, summary, trust: described, as_of: now }))
  })
  await store.graph.writeExposures(ofOrganization(organizationId, rows), { readNumber, done: causes })
}

/** The track records of the nodes that were reached, over the outcomes of all entities of each. */
async function loadTrackRecords(
  store: EnvironmentStore,
  {
    organizationId,
    reaches,
    merged,
    today,
  }: {
    organizationId: string
    reaches: Map<string, Map<string, ReachedEntity>>
    merged: MergedEntities
    today: number
  },
): Promise<Map<string, TrackRecord>> {
  const nodes = [...new Set([...reaches].flatMap(([node, reach]) => [node, ...reach.keys()]))]
  const known = await store.graph.trackRecords(
    organizationId,
    nodes.flatMap((node) => membersOfNode(node, merged)),
  )
  const records = nodes.map((node) => {
    const tallies = membersOfNode(node, merged).flatMap((id) => known.get(id)?.tallies ?? [])
    return [node, trackRecordOf(tallies, today)] as const
  })
  return new Map(records)
}
