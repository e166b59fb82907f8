import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { Recent } from './recent.ts'

/** An entity with everything that is kept of it, and what the trust graph says about it (null: nothing yet). */
export type EntityRow = RowOf<'entities'> & { graph: string | null; trust: string | null }

/** Who is decided about was mostly written to just before: states of a few thousand entities. */
const STATES_BYTES_MAX = 16 * 1024 * 1024

/** Reads of entities; those on hot paths share their round trips. */
export function entityQueries(database: Database) {
  const states = new Recent<KnownState>(STATES_BYTES_MAX)
  return {
    /** Remembers the states of entities that were written, for whoever reads them next. */
    rememberStates(entities: readonly RowOf<'entities'>[]): void {
      for (const entity of entities) remember(states, entity)
    },

    /** The entity of that id, if the organization has it. */
    entity: batchedRead<{ organizationId: string; id: string }, EntityRow>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      load: (keys) =>
        readBy(database, 'id', {
          names: keys.map(({ organizationId, id }) => ({ organizationId, name: id })),
          states,
        }),
    }),

    /** The entity of that caller-side id, if the organization has it. */
    entityByExternalId: batchedRead<{ organizationId: string; externalId: string }, EntityRow>({
      keyText: ({ organizationId, externalId }) => `${organizationId} ${externalId}`,
      load: (keys) =>
        readBy(database, 'external_id', {
          names: keys.map(({ organizationId, externalId }) => ({ organizationId, name: externalId })),
          states,
        }),
    }),

    /** Which of these transactions the entity already has. */
    async knownTransactions(
      organizationId: string,
      entityId: string,
      externalIds: readonly string[],
    ): Promise<Set<string>> {
      const rows = await database.query<{ external_id: string }>(
        // One look-up for each: a list to filter by would let the planner read all the entity ever had.
        `SELECT sent.external_id FROM unnest($3::text[]) AS sent (external_id) CROSS JOIN LATERAL (
           SELECT 1 FROM transactions WHERE org_id = $1 AND entity_id = $2 AND external_id = sent.external_id LIMIT 1) AS known`,
        [organizationId, entityId, externalIds],
      )
      return new Set(rows.map((row) => row.external_id))
    },
  }
}

/**
 * The state of an entity as it was at one version; the moment tells versions of one number apart, should a database be set back.
 *
 * INVARIANT: whatever writes a state gives its entity another version, or another moment.
 */
type KnownState = Pick<RowOf<'entities'>, 'state' | 'version' | 'updated_at'>

function remember(states: Recent<KnownState>, { org_id, id, state, version, updated_at }: RowOf<'entities'>): void {
  states.set(keyOf({ organizationId: org_id, name: id }), { state, version, updated_at }, state.length)
}

const COLUMNS = columnsOf('entities')
  .filter((column) => column !== 'state')
  .map((column) => `entities.${column}`)
  .join(', ')

/** Reads entities by one of their names. A state that is known and has not changed is not sent again. */
async function readBy(
  database: Database,
  column: 'id' | 'external_id',
  { names, states }: { names: readonly EntityName[]; states: Recent<KnownState> },
): Promise<Map<string, EntityRow>> {
  // States are remembered by id. They are held from here on, whatever is forgotten meanwhile, and the same for whoever asks twice.
  const known = new Map(names.map(keyOf).map((key) => [key, column === 'id' ? states.get(key) : undefined]))
  const rows = await database.query<Omit<EntityRow, 'state'> & { state: string | null } & Row>(
    `SELECT ${COLUMNS}, exposure.summary AS graph, exposure.trust,
       CASE WHEN entities.version = wanted.version AND entities.updated_at = wanted.updated_at THEN NULL ELSE entities.state END AS state
     FROM entities
     JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[]) AS wanted (org_id, name, version, updated_at)
       ON entities.org_id = wanted.org_id AND entities.${column} = wanted.name
     LEFT JOIN graph_exposures AS exposure ON exposure.org_id = entities.org_id AND exposure.entity_id = entities.id`,
    [
      names.map(({ organizationId }) => organizationId),
      names.map(({ name }) => name),
      names.map((name) => known.get(keyOf(name))?.version ?? null),
      names.map((name) => known.get(keyOf(name))?.updated_at ?? null),
    ],
  )
  const found = new Map<string, EntityRow>()
  for (const row of rows) {
    const key = keyOf({ organizationId: row.org_id, name: row[column] })
    const isUnchanged = row.state === null
    if (isUnchanged) row.state = known.get(key)!.state
    const entity = row as EntityRow
    if (!isUnchanged) remember(states, entity)
    found.set(key, entity)
  }
  return found
}

interface EntityName {
  organizationId: string
  name: string
}

function keyOf({ organizationId, name }: EntityName): string {
  return `${organizationId} ${name}`
}
