import type { Installation } from '../installation/installation.ts'
import { listOperators } from '../store/control/operators.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'

/** Names who made records, by the first entry about each on the audit log. */
export async function recordMakers(
  { storage }: Installation,
  store: EnvironmentStore,
  { organizationId, ids }: { organizationId: string; ids: readonly string[] },
): Promise<(id: string) => string | null> {
  const [creators, operators] = await Promise.all([
    store.auditRecords.creators(organizationId, ids),
    listOperators(storage.control, organizationId),
  ])
  const names = new Map(operators.map(({ id, name }) => [id, name]))
  return (id) => {
    const actor = creators.get(id)
    if (!actor) return null
    if (actor.type === 'system') return 'the service'
    return names.get(actor.id) ?? actor.id
  }
}
