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
  const own = (await store.entityMerges.groupsOf(organizationId, [entityId])).get(entityId) ?? [entityId]
  const records = await store.graph.trackRecords(organizationId, own)
  const neighbours = await store.graph.markLinksTo(organizationId, entityId, {
    isAdverse: [...records.values()].some((record) => record.isAdverse),
    after,
    limit: NEIGHBOURS_PER_PAGE,
  })
  const near = await withMerged(store, organizationId, neighbours)
  const links = await store.graph.followedLinks(organizationId, near, dayOf(now))
  const affected = affectedByOutcome({ neighbours: near, links })
  const causes = [...affected].map((id) => ({ kind: 'exposure', entity_id: id, mark: origin }))
  const others = origin.startsWith(OF_MERGED) || after !== '' ? [] : own.filter((id) => id !== entityId)
  const spreads = others.map((id) => ({ kind: 'spread', entity_id: id, mark: `${OF_MERGED}${origin}` }))
  await store.consequences.queue(ofOrganization(organizationId, [...causes, ...spreads]), { done: [cause] })
  const isLast = neighbours.length < NEIGHBOURS_PER_PAGE
  if (!isLast) await store.consequences.requeue({ ...cause, mark: `${origin}@${neighbours.at(-1)}` })
  return neighbours.length
}

/** Begins the mark of a cause that is there because of a merged entity: it is not handed on again. */
const OF_MERGED = 'merged: '

/** These entities with those that they are merged with. */
async function withMerged(
  store: EnvironmentStore,
  organizationId: string,
  entityIds: readonly string[],
): Promise<string[]> {
  const groups = await store.entityMerges.groupsOf(organizationId, entityIds)
  return [...new Set(entityIds.flatMap((id) => groups.get(id) ?? [id]))]
}
