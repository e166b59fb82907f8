import { affectedByOutcome } from '../core/graph/affected-entities.ts'
import { dayOf } from '../core/graph/decay.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { RowOf } from '../store/tables.ts'

/** Neighbours that one round marks; a hub takes many rounds, and holds up nobody meanwhile. */
const NEIGHBOURS_PER_ROUND = 200

/** Has everyone's exposure computed anew whom the outcomes of one entity may reach. */
export async function spreadEvidence(
  store: EnvironmentStore,
  cause: RowOf<'consequences'>,
  now: string,
): Promise<void> {
  const { org_id: organizationId, entity_id: entityId, mark } = cause
  const isAdverse = (await store.evidence(organizationId, [entityId])).get(entityId)?.isAdverse ?? false
  for (let after = ''; ; ) {
    const neighbours = await store.markLinksTo(organizationId, entityId, {
      isAdverse,
      after,
      limit: NEIGHBOURS_PER_ROUND,
    })
    const links = await store.followedLinks(organizationId, neighbours, dayOf(now))
    const affected = affectedByOutcome({ neighbours, links })
    const last = neighbours.length < NEIGHBOURS_PER_ROUND
    const causes = [...affected].map((id) => ({ org_id: organizationId, kind: 'exposure', entity_id: id, mark }))
    await store.exchangeConsequences(causes, last ? [cause] : [])
    if (last) return
    after = neighbours.at(-1)!
  }
}
