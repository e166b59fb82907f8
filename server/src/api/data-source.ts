import { canonicalSha256 } from '../core/canonical-json.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { DataSourceRequest } from './schemas/fields.ts'

/** What a source provided: the table of its facts. */
type Provides = 'identity_links' | 'transactions' | 'feature_snapshots'

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
