import type { EnvironmentStore } from '../store/environment-store.ts'
import { ofOrganization } from '../store/schema/tables.ts'
import { refreshExposures } from './refresh-exposures.ts'

/** The exposures that have to be refreshed after a change is committed and before its reply goes out. */
export interface RefreshBeforeReply {
  /** The entity that the change is about. */
  entityId: string
  /** That entity and its nearest neighbours: the entities whose exposure is computed again. */
  near: readonly string[]
  /** The mark of the causes that were committed with the change. */
  mark: string
}

/** As many links as one page of the worker's complete spread marks at once. */
const LINKS_MARKED_MAX = 200

/** Refreshes the exposures nearest to a committed change; the worker refreshes the rest. */
export async function refreshBeforeReply(
  store: EnvironmentStore,
  organizationId: string,
  { entityId, near, mark }: RefreshBeforeReply,
  now: string,
): Promise<void> {
  const isAdverse = (await store.trackRecords(organizationId, [entityId])).get(entityId)?.isAdverse ?? false
  await store.markLinksTo(organizationId, entityId, { isAdverse, after: '', limit: LINKS_MARKED_MAX })
  const causes = ofOrganization(
    organizationId,
    near.map((id) => ({ kind: 'exposure', entity_id: id, mark })),
  )
  await refreshExposures(store, { organizationId, entityIds: near, now, causes })
}
