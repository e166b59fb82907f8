import { LRUCache } from 'lru-cache'
import type { EntityState } from '../core/facts/entity-state.ts'
import { combineStates } from '../core/facts/merged/combine-states.ts'
import type { EntityRow, EntityToDecide } from '../store/environment/entities.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { offersOf } from './entity-offers.ts'
import { type EntityReading, madeOn, stateOf } from './facts-of.ts'

/** The entity with this id as a decision reads it, if the organization has it. */
export async function readEntity(
  store: EnvironmentStore,
  { organizationId, id }: { organizationId: string; id: string },
): Promise<EntityReading | undefined> {
  const entity = await store.entities.toDecide({ organizationId, id })
  return entity && readingOf(store, organizationId, entity)
}

/** An entity that was read, as a decision reads it. */
export async function readingOf(
  store: EnvironmentStore,
  organizationId: string,
  entity: EntityToDecide,
): Promise<EntityReading> {
  const members = await readMembers(store, organizationId, { entity, find: store.entities.toDecide })
  const state = members.length === 1 ? stateOf(entity) : combinedState(members)
  return { entity, members, state, offers: members.flatMap(offersOf) }
}

/** The entities that an entity is merged with, itself among them, sorted by id; only itself if it is not merged. */
export function membersOf(
  store: EnvironmentStore,
  organizationId: string,
  entity: EntityRow,
): Promise<readonly EntityRow[]> {
  return readMembers(store, organizationId, { entity, find: store.entities.find })
}

async function readMembers<Read extends EntityRow>(
  store: EnvironmentStore,
  organizationId: string,
  { entity, find }: { entity: Read; find: (key: { organizationId: string; id: string }) => Promise<Read | undefined> },
): Promise<readonly Read[]> {
  // Nearly every entity is alone, and reading it must not cost more for the others.
  if (entity.merge_id === null) return [entity]
  const ids = await store.entityMerges.membersOf(organizationId, entity)
  const found = await Promise.all(ids.map((id) => (id === entity.id ? entity : find({ organizationId, id }))))
  return found.filter((member) => member !== undefined)
}

/** The state of these entities as one, whichever are merged now; undefined if there are none of them any more. */
export async function readTogether(
  store: EnvironmentStore,
  { organizationId, ids }: { organizationId: string; ids: readonly string[] },
): Promise<EntityState | undefined> {
  const found = await Promise.all(ids.map((id) => store.entities.find({ organizationId, id })))
  const [first, ...others] = found.filter((member) => member !== undefined)
  if (!first) return undefined
  return others.length === 0 ? stateOf(first) : combinedState([first, ...others])
}

/** Bounds the texts that combined states were made of. */
const COMBINED_CHARACTERS_MAX = 8 * 1024 * 1024

/** Combined states by what they were made of: a decision about a merged entity would spend most of its time on combining. */
const combinedStates = new LRUCache<string, EntityState>({ maxSize: COMBINED_CHARACTERS_MAX })

function combinedState(members: readonly EntityRow[]): EntityState {
  const key = members.map((member) => `${madeOn([member])} ${member.updated_at}`).join(' ')
  const known = combinedStates.get(key)
  if (known) return known
  const state = combineStates(members.map(stateOf))
  const size = members.reduce((sum, member) => sum + member.state.length, 0)
  combinedStates.set(key, state, { size: Math.max(1, size) })
  return state
}
