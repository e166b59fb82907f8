import { canonicalSha256 } from '../core/canonical-json.ts'
import type { Violation } from '../http/violation.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { DataSourceRequest } from './schemas/fields.ts'

/** What a source provided: the table of its facts. */
type Provides = 'identity_links' | 'transactions' | 'feature_snapshots'

/** How many sources of data an entity can have; a notice and each replay lists them all. */
export const DATA_SOURCES_MAX = 64

// A source is looked up among the few of one entity.
const ID_CHARACTERS = 16

/** The row of the source that a request names; undefined if it names none. */
export function dataSourceRow(
  source: DataSourceRequest | undefined,
  { entity_id, provides, now: first_at }: { entity_id: string; provides: Provides; now: string },
): NewRow<'data_sources'> | undefined {
  if (source === undefined) return undefined
  const { kind, name = null, address = null, phone = null } = source
  const id = canonicalSha256({ address, entity_id, kind, name, phone }).slice(0, ID_CHARACTERS)
  return { entity_id, provides, id, kind, name, address, phone, first_at }
}

/** The violation of sources beyond those that an entity can have; none of sources that it has already. */
export async function tooManySources(
  store: Pick<EnvironmentStore, 'transactions'>,
  { organizationId, entityId }: { organizationId: string; entityId: string },
  { sources, param }: { sources: readonly NewRow<'data_sources'>[]; param: string },
): Promise<Violation[]> {
  if (sources.length === 0) return []
  const known = new Set((await store.transactions.knownSources(organizationId, entityId)).map(placeOf))
  const added = sources.filter((source) => !known.has(placeOf(source))).length
  const count = known.size + added
  if (added === 0 || count <= DATA_SOURCES_MAX) return []
  const message = `With those named before, the entity would have ${count} sources of data; it can have ${DATA_SOURCES_MAX}. Name who provided the data, the same in every request, and not a single file or statement.`
  return [{ param, message }]
}

function placeOf({ provides, id }: Pick<NewRow<'data_sources'>, 'provides' | 'id'>): string {
  return `${provides} ${id}`
}
