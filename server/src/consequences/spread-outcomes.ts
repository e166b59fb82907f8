import { affectedByOutcome } from '../core/graph/affected-entities.ts'
import { dayOf } from '../core/graph/decay.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ofOrganization, type RowOf } from '../store/schema/tables.ts'

/** Neighbours in one page. A hub takes many pages, and the work of other causes goes on between them. */
export const NEIGHBOURS_PER_PAGE = 200

/**
 * Queues a refresh of every exposure that the outcomes of one entity may change, one page of its neighbours at a time.
 * Returns how many neighbours the page had.
 */
export async function spreadOutcomes(
  store: EnvironmentStore,
  cause: RowOf<'consequences'>,
  now: string,
): Promise<number> {
  const { org_id: organizationId, entity_id: entityId } = cause
  // The mark carries the cursor, `origin@neighbour`. A new outcome writes a mark without one, so the pages start again.
  const [origin = '', after = ''] = cause.mark.split('@')
  const isAdverse = (await store.graph.trackRecords(organizationId, [entityId])).get(entityId)?.isAdverse ?? false
  const neighbours = await store.graph.markLinksTo(organizationId, entityId, {
    isAdverse,
    after,
    limit: NEIGHBOURS_PER_PAGE,
  })
  const links = await store.graph.followedLinks(organizationId, neighbours, dayOf(now))
  const affected = affectedByOutcome({ neighbours, links })
  const causes = [...affected].map((id) => ({ kind: 'exposure', entity_id: id, mark: origin }))
  await store.consequences.queue(ofOrganization(organizationId, causes), { done: [cause] })
  const isLast = neighbours.length < NEIGHBOURS_PER_PAGE
  if (!isLast) await store.consequences.requeue({ ...cause, mark: `${origin}@${neighbours.at(-1)}` })
  return neighbours.length
}
