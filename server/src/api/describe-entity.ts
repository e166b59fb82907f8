import type { Environment } from '../config.ts'
import { neutralTrust } from '../core/graph/describe-trust.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import { type Entity, type EntityType, OPTIONAL_ENTITY_FIELDS, type OptionalEntityField } from './schemas/entity.ts'

/** Describes an entity as the API returns it. */
export function describeEntity(entity: EntityRow, environment: Environment): Entity {
  return {
    id: entity.id,
    object: 'entity',
    environment,
    external_id: entity.external_id,
    type: entity.type as EntityType | null,
    ...optionalFieldsOf(entity),
    metadata: JSON.parse(entity.metadata),
    trust: entity.trust === null ? neutralTrust(entity.created_at) : JSON.parse(entity.trust),
    created_at: entity.created_at,
    updated_at: entity.updated_at,
  }
}

/** The optional fields that are set. */
function optionalFieldsOf(entity: EntityRow): Pick<Entity, OptionalEntityField> {
  const fields = OPTIONAL_ENTITY_FIELDS.map((field) => [field, entity[field]] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== null))
}
