import type { Static } from 'typebox'
import { OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'

export const METADATA_KEYS_MAX = 50

/** Free key/value text of the caller. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: METADATA_KEYS_MAX,
  propertyNames: { type: 'string', minLength: 1, maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description: 'Up to 50 keys of at most 40 characters with text of at most 500, yours to use.',
  examples: [{ crm_id: '8841' }],
})

/** The path parameter of everything that belongs to an entity. */
export const EntityPath = Type.Object({ entity_id: Type.String({ description: 'The id of an entity.' }) })

/** Query of a list. */
export const PageQuery = Strict({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many items a page holds at most.' }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'The `next_cursor` of the page before.' })),
})
export type PageQuery = Static<typeof PageQuery>

/** The envelope of every error. */
export const ErrorBody = Strict(
  {
    error: Strict({
      type: OneOf([
        'invalid_request',
        'authentication',
        'permission',
        'not_found',
        'conflict',
        'idempotency',
        'rate_limit',
        'api',
      ]),
      code: Type.String({ description: 'Stable, for programs.' }),
      message: Type.String({ description: 'For people: what to do next.' }),
      param: Type.Optional(Type.String({ description: 'JSON pointer to the first field at fault.' })),
      details: Type.Optional(
        Type.Array(Strict({ param: Type.String(), message: Type.String() }), {
          description: 'Every violation that was found.',
        }),
      ),
      request_id: Type.String(),
    }),
  },
  { title: 'Error' },
)
