import type { Static, TSchema } from 'typebox'
import { Id, Nullable, ObjectName, OneOf, Open, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { ENTITY_TYPES } from '../../core/vocabularies.ts'
import type { ChangeableColumn } from '../../store/schema/tables.ts'
import { EnvironmentName, ExternalId, Metadata } from './fields.ts'

export const EntityType = OneOf(ENTITY_TYPES, { description: 'The kind of entity. Once set, it cannot change.' })
export type EntityType = Static<typeof EntityType>

const DisplayName = Text(255, 'The name of the entity.')
const Country = Type.String({
  pattern: '^[A-Z]{2}$',
  format: 'iso-3166-1',
  description: 'ISO 3166-1 alpha-2 country code, such as DE.',
  examples: ['DE'],
})

/** The optional text fields of an entity. Each is a changeable column of the table `entities` with the same name. */
const optionalFields = {
  display_name: Type.Optional(DisplayName),
  country: Type.Optional(Country),
}
export type OptionalEntityField = keyof typeof optionalFields
export const OPTIONAL_ENTITY_FIELDS = columnNames(optionalFields)

/** The names of fields; a field that is not a changeable column of `entities` does not compile. */
function columnNames<F extends ChangeableColumn<'entities'>>(fields: Record<F, TSchema>): F[] {
  return Object.keys(fields) as F[]
}

export const CreateEntityRequest = Strict(
  {
    external_id: ExternalId('Your own stable id of this entity, unique in your organization.'),
    type: Type.Optional(EntityType),
    display_name: Type.Optional(Nullable(DisplayName)),
    country: Type.Optional(Nullable(Country)),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'CreateEntityRequest',
    description: 'The id that you give the entity, and what you know of it.',
  },
)

export const Trust = Open(
  {
    score: Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'The trust in this entity: the log-odds of its own history and of its neighbours, as a probability; 0.5 if nothing is known.',
    }),
    negative_exposure: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'How strongly bad outcomes, its own and those of its neighbours, reach this entity.',
    }),
    positive_support: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'How strongly good outcomes support this entity.',
    }),
    evidence_count: Type.Integer({ minimum: 0, description: 'The number of entities whose outcomes reach this one.' }),
    as_of: Timestamp('When this was last computed.'),
  },
  { title: 'Trust', description: 'What the trust graph says about the entity.' },
)

export const Entity = Open(
  {
    id: Id('ent', 'The id of the entity.'),
    object: ObjectName('entity'),
    environment: EnvironmentName,
    external_id: Type.String({ description: 'Your own id of this entity.' }),
    type: Nullable(EntityType),
    ...optionalFields,
    metadata: Metadata,
    trust: Trust,
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it last changed.'),
  },
  { title: 'Entity', description: 'A person, a business or an institution.' },
)
export type Entity = Static<typeof Entity>
