import type { Static } from 'typebox'
import { canonicalJson } from '../../core/canonical-json.ts'
import { emptyState } from '../../core/facts/entity-state.ts'
import type { EntityRow } from '../../store/environment/entities.ts'
import { membersOf } from '../../underwriting/read-entity.ts'
import { fail, failValidation } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { describeEntity } from '../describe-entity.ts'
import { record } from '../record.ts'
import { CreateEntityRequest, Entity, OPTIONAL_ENTITY_FIELDS, type OptionalEntityField } from '../schemas/entity.ts'
import { METADATA_KEYS_MAX } from '../schemas/fields.ts'
import { timeOfChange } from '../time-of-change.ts'

/** Creates an entity, or merges the given fields into the one with this external id. */
export const createEntity = defineEndpoint({
  operationId: 'createEntity',
  summary: 'Create or retrieve an entity',
  description:
    'A new `external_id` creates an entity (201). An existing one returns its entity (200), with the given fields merged in. `null` clears `display_name` or `country`, and an empty text as a value of `metadata` removes the key. The `type` of an entity, once set, cannot change, and merged entities are of one type (409).',
  tag: 'Entities',
  method: 'POST',
  path: '/v1/entities',
  scope: 'entities:write',
  serializedBy: ({ body }) => [body.external_id],
  body: CreateEntityRequest,
  succeeds: { 200: Entity, 201: Entity },
  fails: ['entity_type_conflict', 'validation_failed'],

  async handle(context) {
    const { body, caller, environment, store, now } = context
    const known = await store.entities.byExternalId({
      organizationId: caller.organizationId,
      externalId: body.external_id,
    })
    if (!known) {
      const entity = newEntity(context)
      const change = record(context, {
        newEntities: [entity],
        domainEvents: [{ type: 'entity.created', ...trailOf(entity.id), data: { entity_id: entity.id } }],
        counts: [['entities', 1]],
      })
      return { status: 201, body: describeEntity(entity, environment), change }
    }

    if (body.type && known.type && body.type !== known.type) {
      return fail('entity_type_conflict', {
        param: '/type',
        message: `This entity has the type ${known.type}, and the type of an entity cannot change. Omit type.`,
      })
    }
    const other = body.type && (await memberOfOtherType(context, known, body.type))
    if (other) {
      return fail('entity_type_conflict', {
        param: '/type',
        message: `This entity is merged with ${other.id}, which has the type ${other.type}. Omit type, or tell the two apart first.`,
      })
    }
    const merged = mergeFields(known, body)
    if (Object.keys(JSON.parse(merged.metadata)).length > METADATA_KEYS_MAX) {
      return failValidation([
        {
          param: '/metadata',
          message: `With the keys stored before, metadata would have more than ${METADATA_KEYS_MAX} keys. Remove a key by sending it with an empty text.`,
        },
      ])
    }
    const changed = changedFields(known, merged)
    if (changed.length === 0) return { status: 200, body: describeEntity(known, environment) }

    const next = { ...merged, version: known.version + 1, updated_at: timeOfChange(known, now) }
    const change = record(context, {
      changedEntities: [next],
      domainEvents: [{ type: 'entity.updated', ...trailOf(known.id), data: { entity_id: known.id, changed } }],
    })
    return { status: 200, body: describeEntity(next, environment), change }
  },
})

/** Merged entities are of one type. */
async function memberOfOtherType(
  { store, caller }: Pick<RequestContext<unknown, unknown, unknown>, 'store' | 'caller'>,
  entity: EntityRow,
  type: string,
): Promise<EntityRow | undefined> {
  const members = await membersOf(store, caller.organizationId, entity)
  return members.find((member) => member.type !== null && member.type !== type)
}

type EntityFields = Static<typeof CreateEntityRequest>

/** The fields that callers set and change. */
const CALLER_FIELDS = ['type', ...OPTIONAL_ENTITY_FIELDS, 'metadata'] as const
/** Every optional field as null. A column that neither this nor `newEntity` sets does not compile. */
const NO_OPTIONAL_FIELDS = Object.fromEntries(OPTIONAL_ENTITY_FIELDS.map((field) => [field, null])) as Record<
  OptionalEntityField,
  null
>

function trailOf(id: string) {
  return { subject: { type: 'entity', id }, trailId: id }
}

function newEntity({ body, newId, now }: RequestContext<unknown, unknown, EntityFields>): EntityRow {
  const blank = {
    id: newId('ent'),
    external_id: body.external_id,
    type: null,
    ...NO_OPTIONAL_FIELDS,
    metadata: '{}',
    state: JSON.stringify(emptyState()),
    version: 1,
    created_at: now,
    updated_at: now,
    graph: null,
    trust: null,
    exposed_at: null,
    merge_id: null,
    merged_at: null,
    offers: null,
    offers_version: null,
  }
  return mergeFields(blank, body)
}

function mergeFields(entity: EntityRow, body: EntityFields): EntityRow {
  return {
    ...entity,
    type: body.type ?? entity.type,
    ...Object.fromEntries(
      OPTIONAL_ENTITY_FIELDS.map((field) => [field, body[field] === undefined ? entity[field] : body[field]]),
    ),
    metadata: body.metadata ? mergeMetadata(entity.metadata, body.metadata) : entity.metadata,
  }
}

/** Given keys replace stored keys; an empty text removes its key. */
function mergeMetadata(stored: string, given: Record<string, string>): string {
  const merged = Object.entries<string>({ ...JSON.parse(stored), ...given }).filter(([, value]) => value !== '')
  return canonicalJson(Object.fromEntries(merged))
}

function changedFields(before: EntityRow, after: EntityRow): string[] {
  return CALLER_FIELDS.filter((field) => before[field] !== after[field])
}
