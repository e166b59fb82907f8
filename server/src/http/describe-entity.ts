import type { Environment } from '../config.ts'
import type { EntityState } from '../core/facts/entity-state.ts'
import type { EntityRow } from '../store/entities.ts'
import type { Entity, EntityType } from './schemas/entity.ts'

/** An entity as callers see it. */
export function describeEntity(entity: EntityRow, environment: Environment): Entity {
  const { graph } = JSON.parse(entity.state) as EntityState
  return {
    id: entity.id,
    object: 'entity',
    environment,
    external_id: entity.external_id,
    type: entity.type as EntityType | null,
    ...(entity.display_name !== null && { display_name: entity.display_name }),
    ...(entity.country !== null && { country: entity.country }),
    metadata: JSON.parse(entity.metadata),
    trust: {
      score: 0.5,
      negative_exposure: graph.negativeExposure,
      positive_support: graph.positiveSupport,
      evidence_count: graph.evidenceCount,
      as_of: entity.updated_at,
    },
    created_at: entity.created_at,
    updated_at: entity.updated_at,
  }
}
