import { LRUCache } from 'lru-cache'
import { REQUESTS_COUNTED_MAX } from '../../core/facts/velocity-facts.ts'
import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type NewRow, type RowOf } from '../schema/tables.ts'
import { newestMerge } from './entity-merges.ts'

/**
 * An entity with its state, exposure and trust; the exposure, its time and the trust are null until first computed. `merge_id`
 * is the newest step that says which entities it is read with (`entity-merges.ts`), and `merged_at` its time; null if it was never
 * merged. Its open offers are null until it is first offered credit.
 */
export type EntityRow = NewRow<'entities'> &
  Record<'graph' | 'trust' | 'exposed_at' | 'merge_id' | 'merged_at' | 'offers', string | null> & {
    offers_version: number | null
  }

/** An entity with what only decisions read of it. */
export type EntityToDecide = EntityRow & {
  /** The ids of its newest decisions, newest first, separated by spaces. */
  newest_decisions: string
  /** Its devices, each as `<hash>:<how many entities have it>`, separated by spaces. */
  devices: string
}

/** Room for the states of a few thousand entities: most entities are decided about soon after they are written. */
const STATES_CHARACTERS_MAX = 16 * 1024 * 1024
/** The size of a cache entry without its state: the key and the objects around it. */
const ENTRY_CHARACTERS = 300

/** Reads of entities; look-ups on hot paths share round trips. */
export function entityQueries(database: Database) {
  const states: StateCache = new LRUCache({
    maxSize: STATES_CHARACTERS_MAX,
    sizeCalculation: ({ state }) => state.length + ENTRY_CHARACTERS,
  })
  return {
    /** Caches the states of entities that were just written, for the next read. */
    cacheStates(organizationId: string, entities: readonly NewRow<'entities'>[]): void {
      for (const entity of entities) cacheState(states, organizationId, entity)
    },

    /** The entity with this id, if the organization has it. */
    find: batchedRead<{ organizationId: string; id: string }, EntityRow>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      load: (keys) =>
        readBy(database, 'id', {
          names: keys.map(({ organizationId, id }) => ({ organizationId, name: id })),
          states,
        }),
    }),

    /** The same with what decisions read of it besides: no further round trip, and as much whatever it has on file. */
    toDecide: batchedRead<{ organizationId: string; id: string }, EntityToDecide>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      load: (keys) =>
        readBy<EntityToDecide>(database, 'id', {
          names: keys.map(({ organizationId, id }) => ({ organizationId, name: id })),
          states,
          more: TO_DECIDE,
        }),
    }),

    /** The entity with this id of the caller's, if the organization has it. */
    byExternalId: batchedRead<{ organizationId: string; externalId: string }, EntityRow>({
      keyText: ({ organizationId, externalId }) => `${organizationId} ${externalId}`,
      load: (keys) =>
        readBy(database, 'external_id', {
          names: keys.map(({ organizationId, externalId }) => ({ organizationId, name: externalId })),
          states,
        }),
    }),

    /** Whether the organization has any entity. */
    async isAny(organizationId: string): Promise<boolean> {
      return (await database.query('SELECT 1 FROM entities WHERE org_id = $1 LIMIT 1', [organizationId])).length > 0
    },
  }
}

/**
 * The state of an entity at one version. `updated_at` tells apart two states with the same version, as after a restore
 * of the database from a backup.
 *
 * INVARIANT: every write of a state changes the entity's `version` or its `updated_at`.
 */
type CachedState = Pick<RowOf<'entities'>, 'state' | 'version' | 'updated_at'>

/** States by organization and entity id. */
type StateCache = LRUCache<string, CachedState>

function cacheState(
  states: StateCache,
  organizationId: string,
  { id, state, version, updated_at }: NewRow<'entities'>,
): void {
  states.set(keyOf({ organizationId, name: id }), { state, version, updated_at })
}

const COLUMNS = columnsOf('entities')
  .filter((column) => column !== 'state')
  .map((column) => `entities.${column}`)
  .join(', ')

/** How many devices of an entity are looked at; the order of their keyed hashes says nothing about them. */
const DEVICES_READ_MAX = 50

/** The columns of `EntityToDecide`: an index read with a limit each. */
const TO_DECIDE = `,
  array_to_string(ARRAY(
    SELECT made.id FROM decisions AS made WHERE made.org_id = entities.org_id AND made.entity_id = entities.id
    ORDER BY made.id DESC LIMIT ${REQUESTS_COUNTED_MAX}), ' ') AS newest_decisions,
  array_to_string(ARRAY(
    SELECT device.identifier_hash || ':' || known.holders FROM (
      SELECT identifier_hash FROM identifier_holders AS own
      WHERE own.org_id = entities.org_id AND own.entity_id = entities.id AND own.is_device
        AND (own.verified_at IS NOT NULL OR own.unverified_at IS NOT NULL)
      ORDER BY identifier_hash LIMIT ${DEVICES_READ_MAX}) AS device
    JOIN graph_claims AS known ON known.org_id = entities.org_id AND known.claim = device.identifier_hash), ' ') AS devices`

/**
 * Reads entities by id or external id, with more columns where these are given. PostgreSQL leaves out a state whose version is
 * the cached one.
 */
async function readBy<Read extends EntityRow = EntityRow>(
  database: Database,
  column: 'id' | 'external_id',
  { names, states, more = '' }: { names: readonly EntityName[]; states: StateCache; more?: string },
): Promise<Map<string, Read>> {
  // Taken out of the cache before the query, because an entry may be evicted while the query runs.
  const cached = new Map(names.map(keyOf).map((key) => [key, column === 'id' ? states.get(key) : undefined]))
  const rows = await database.query<Omit<Read, 'state'> & { org_id: string; state: string | null } & Row>(
    `SELECT ${COLUMNS}, exposure.summary AS graph, exposure.trust, exposure.as_of AS exposed_at, merge.id AS merge_id,
       merge.taken_at AS merged_at, open.offers, open.version AS offers_version,
       CASE WHEN entities.version = wanted.version AND entities.updated_at = wanted.updated_at THEN NULL ELSE entities.state END AS state${more}
     FROM entities
     JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[]) AS wanted (org_id, name, version, updated_at)
       ON entities.org_id = wanted.org_id AND entities.${column} = wanted.name
     LEFT JOIN graph_exposures AS exposure ON exposure.org_id = entities.org_id AND exposure.entity_id = entities.id
     LEFT JOIN open_offers AS open ON open.org_id = entities.org_id AND open.entity_id = entities.id
     LEFT JOIN LATERAL ${newestMerge('entities.org_id', 'entities.id')} AS merge ON true`,
    [
      names.map(({ organizationId }) => organizationId),
      names.map(({ name }) => name),
      names.map((name) => cached.get(keyOf(name))?.version ?? null),
      names.map((name) => cached.get(keyOf(name))?.updated_at ?? null),
    ],
    { keepPlan: true },
  )
  const found = new Map<string, Read>()
  for (const { org_id: organizationId, state, ...row } of rows) {
    const key = keyOf({ organizationId, name: row[column] })
    const entity = { ...row, state: state ?? cached.get(key)!.state } as unknown as Read
    if (state !== null) cacheState(states, organizationId, entity)
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
