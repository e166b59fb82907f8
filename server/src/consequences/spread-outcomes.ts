import { affectedByOutcome } from '../core/graph/affected-entities.ts'
import { dayOf } from '../core/graph/decay.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { RowOf } from '../store/schema/tables.ts'

/** Neighbours that one slice marks; a hub takes many slices, and others get theirs in between. */
const NEIGHBOURS_PER_SLICE = 200

/** Has the exposure of those computed anew whom the outcomes of one entity may reach: a slice of them, and the rest later. */
export async function spreadOutcomes(
  store: EnvironmentStore,
  cause: RowOf<'consequences'>,
  now: string,
): Promise<void> {
  const { org_id: organizationId, entity_id: entityId } = cause
  // The mark carries how far the slices have come; a new outcome writes a new mark, and they begin again.
  const [origin = '', after = ''] = cause.mark.split('@')
  const isAdverse = (await store.trackRecords(organizationId, [entityId])).get(entityId)?.isAdverse ?? false
  const neighbours = await store.markLinksTo(organizationId, entityId, {
    isAdverse,
    after,
    limit: NEIGHBOURS_PER_SLICE,
  })
  const links = await store.followedLinks(organizationId, neighbours, dayOf(now))
  const affected = affectedByOutcome({ neighbours, links })
  const causes = [...affected].map((id) => ({ org_id: organizationId, kind: 'exposure', entity_id: id, mark: origin }))
  await store.exchangeConsequences(causes, [cause])
  const isLast = neighbours.length < NEIGHBOURS_PER_SLICE
  if (!isLast) await store.continueConsequence({ ...cause, mark: `${origin}@${neighbours.at(-1)}` })
}
