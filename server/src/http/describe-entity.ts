import type { Environment } from '../config.ts'
import { neutralTrust } from '../core/graph/describe-trust.ts'
import type { EntityRow } from '../store/queries/entities.ts'
import type { Entity, EntityType } from './schemas/entity.ts'

/** An entity as callers see it. */
export function describeEntity(entity: EntityRow, environment: Environment): Entity {
  return {
    id: entity.id,
    object: 'entity',
    environment,
    external_id: entity.external_id,
    type: entity.type as EntityType | null,
    ...(entity.display_name !== null && { display_name: entity.display_name }),
    ...(entity.country !== null && { country: entity.country }),
    metadata: JSON.parse(entity.metadata),
    trust: entity.trust === null ? neutralTrust(entity.created_at) : JSON.parse(entity.trust),
    created_at: entity.created_at,
    updated_at: entity.updated_at,
  }
}
