import { affectedByOutcome } from '../core/graph/affected-entities.ts'
import { dayOf } from '../core/graph/decay.ts'
import { nodeOf, withMerged } from '../core/graph/merged-nodes.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ofOrganization, type RowOf } from '../store/schema/tables.ts'
import { readNodes } from '../underwriting/graph-nodes.ts'
import { linksBetweenNodes, loadNodes } from '../underwriting/load-neighbourhoods.ts'

/** Neighbours in one page. A hub takes many pages, and the work of other causes goes on between them. */
export const NEIGHBOURS_PER_PAGE = 200

/**
 * Queues a refresh of every exposure that the outcomes of one entity may change: of the neighbours of all entities that it is
 * merged with, one page of them at a time. Returns how many neighbours the page had.
 */
export async function spreadOutcomes(
  store: EnvironmentStore,
  cause: RowOf<'consequences'>,
  now: string,
): Promise<number> {
  const { org_id: organizationId, entity_id: entityId } = cause
  // The mark carries the cursor, `origin@member neighbour`. A new outcome writes a mark without one, so the pages start again.
  const [origin = '', cursor = ''] = cause.mark.split('@')
  const { merged, adverse } = await readNodes(store, organizationId, [entityId])
  const members = withMerged([entityId], merged).sort()
  const page = await markPage(store, { organizationId, members, isAdverse: adverse.has(entityId), cursor })

  const near = await loadNodes(store, { organizationId, entityIds: page.neighbours, today: dayOf(now) })
  const neighbours = new Set(page.neighbours.map((id) => nodeOf(id, near.merged)))
  const affected = affectedByOutcome({ neighbours, links: linksBetweenNodes(near) })
  const causes = [...affected].map((id) => ({ kind: 'exposure', entity_id: id, mark: origin }))
  // A merge queues the same cause for each of them; this one does for all.
  const same = members.filter((id) => id !== entityId).map((id) => ({ ...cause, entity_id: id, mark: origin }))
  await store.consequences.queue(ofOrganization(organizationId, causes), { done: [cause, ...same] })
  if (page.next !== null) await store.consequences.requeue({ ...cause, mark: `${origin}@${page.next}` })
  return page.neighbours.length
}

/** A page of the neighbours of some merged entities, and where the next one begins; null after the last. */
interface Page {
  neighbours: string[]
  next: string | null
}

/** Marks the links that lead to merged entities, from one page of the neighbours of these. */
async function markPage(
  store: EnvironmentStore,
  {
    organizationId,
    members,
    isAdverse,
    cursor,
  }: { organizationId: string; members: readonly string[]; isAdverse: boolean; cursor: string },
): Promise<Page> {
  const [first = '', from = ''] = cursor.split(' ')
  const neighbours: string[] = []
  for (const member of members.filter((id) => id >= first)) {
    const limit = NEIGHBOURS_PER_PAGE - neighbours.length
    const after = member === first ? from : ''
    const marked = await store.graph.markLinksTo(organizationId, member, { isAdverse, after, limit })
    neighbours.push(...marked)
    if (marked.length === limit) return { neighbours, next: `${member} ${marked.at(-1)}` }
  }
  return { neighbours, next: null }
}
