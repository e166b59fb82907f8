import { dayOf } from '../core/graph/decay.ts'
import { describeTrust, summarizeExposure } from '../core/graph/describe-trust.ts'
import { exposureOf } from '../core/graph/exposure.ts'
import { type ReachedEntity, reachOf } from '../core/graph/reach.ts'
import { NO_TRACK_RECORD, type TrackRecord, trackRecordOf } from '../core/graph/track-record.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ofOrganization, type RowOf } from '../store/schema/tables.ts'
import { loadNeighbourhoods } from '../underwriting/load-neighbourhoods.ts'

/** The entities whose exposure is computed, and the instant it is computed for. */
export interface ExposuresToRefresh {
  organizationId: string
  entityIds: readonly string[]
  now: string
  /** The causes that ask for it; they are deleted in the statement that writes the result. */
  causes: readonly RowOf<'consequences'>[]
}

/**
 * Computes and writes the exposures of some entities. Three batched reads serve all of them together: their links, their
 * neighbours' links, and the track records. Each is bounded by the fan-out, not by the degree of the entities.
 */
export async function refreshExposures(
  store: EnvironmentStore,
  { organizationId, entityIds, now, causes }: ExposuresToRefresh,
): Promise<void> {
  const today = dayOf(now)
  const readNumber = await store.graph.nextExposureRead()
  const links = await loadNeighbourhoods(store, { organizationId, entityIds, today })
  const reaches = new Map(entityIds.map((entityId) => [entityId, reachOf({ entityId, links, today })]))
  const trackRecords = await loadTrackRecords(store, { organizationId, reaches, today })
  const rows = entityIds.map((entityId) => {
    const exposure = exposureOf({ entityId, asOf: now, reach: reaches.get(entityId)!, trackRecords })
    const trust = describeTrust(exposure, trackRecords.get(entityId) ?? NO_TRACK_RECORD)
    return {
      entity_id: entityId,
      summary: JSON.stringify(summarizeExposure(exposure)),
      trust: JSON.stringify(trust),
      as_of: now,
    }
  })
  await store.graph.writeExposures(ofOrganization(organizationId, rows), { readNumber, done: causes })
}

async function loadTrackRecords(
  store: EnvironmentStore,
  {
    organizationId,
    reaches,
    today,
  }: { organizationId: string; reaches: Map<string, Map<string, ReachedEntity>>; today: number },
): Promise<Map<string, TrackRecord>> {
  const wanted = new Set([...reaches].flatMap(([entityId, reach]) => [entityId, ...reach.keys()]))
  const known = await store.graph.trackRecords(organizationId, [...wanted])
  return new Map([...known].map(([entityId, { tallies }]) => [entityId, trackRecordOf(tallies, today)]))
}
