import type { EnvironmentStore } from '../store/environment-store.ts'
import { refreshExposures } from './refresh-exposures.ts'

/** What a change touches first: the entity it is about, and those near it whose trust is to have moved when the answer is given. */
export interface NearConsequences {
  entityId: string
  near: readonly string[]
  /** The mark of the consequences that were written with the change. */
  mark: string
}

/** As many links as a page of the later, complete round notes at once. */
const LINKS_MARKED = 200

/** Follows up on a change at once, as far as its nearest neighbours; the worker goes on from there. */
export async function followNear(
  store: EnvironmentStore,
  organizationId: string,
  { entityId, near, mark }: NearConsequences,
  now: string,
): Promise<void> {
  const isAdverse = (await store.trackRecords(organizationId, [entityId])).get(entityId)?.isAdverse ?? false
  await store.markLinksTo(organizationId, entityId, { isAdverse, after: '', limit: LINKS_MARKED })
  const causes = near.map((id) => ({ org_id: organizationId, kind: 'exposure', entity_id: id, mark }))
  await refreshExposures(store, { organizationId, entityIds: near, now, causes })
}
