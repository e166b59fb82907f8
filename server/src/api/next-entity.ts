import type { EntityState } from '../core/facts/entity-state.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import { timeOfChange } from './time-of-change.ts'

/** The next version of an entity, with a fact added to its state. */
export function nextEntity(entity: EntityRow, now: string, addFact: (state: EntityState) => EntityState): EntityRow {
  return withState(entity, now, addFact(JSON.parse(entity.state) as EntityState))
}

/** The next version of an entity, with a state that was made from the one it has. */
export function withState(entity: EntityRow, now: string, state: EntityState): EntityRow {
  return { ...entity, state: JSON.stringify(state), version: entity.version + 1, updated_at: timeOfChange(entity, now) }
}
