import { fail } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { describeEntity } from '../describe-entity.ts'
import { Entity } from '../schemas/entity.ts'
import { EntityPath } from '../schemas/fields.ts'

/** Returns one entity with its trust. */
export const retrieveEntity = defineEndpoint({
  operationId: 'retrieveEntity',
  summary: 'Retrieve an entity',
  tag: 'Entities',
  method: 'GET',
  path: '/v1/entities/{entity_id}',
  scope: 'entities:read',
  params: EntityPath,
  succeeds: { 200: Entity },
  fails: ['entity_not_found'],

  async handle({ params, caller, environment, store }) {
    const entity = await store.entities.find({ organizationId: caller.organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    return { status: 200, body: describeEntity(entity, environment) }
  },
})
