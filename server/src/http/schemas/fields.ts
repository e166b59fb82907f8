import type { Static } from 'typebox'
import { NOT_BLANK, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'

export const METADATA_KEYS_MAX = 50

/** Key/value pairs that the caller may use freely. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: METADATA_KEYS_MAX,
  propertyNames: { type: 'string', minLength: 1, maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description: 'Your own data: up to 50 keys of 1 to 40 characters, with text of at most 500 characters.',
  examples: [{ crm_id: '8841' }],
})

/** An id that the caller chose. It is compared exactly as it was sent, and a blank one is refused: it names nothing. */
export const ExternalId = (description: string) =>
  Type.String({ minLength: 1, maxLength: 255, pattern: NOT_BLANK, description: `${description} Not blank.` })

/** The path parameter of every endpoint under an entity. */
export const EntityPath = Type.Object({ entity_id: Type.String({ description: 'The id of an entity.' }) })

/** The query parameters of a paged list. */
export const PageQuery = Strict({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'The largest number of items on a page.' }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'The `next_cursor` of the previous page.' })),
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
      code: Type.String({ description: 'A stable code, for programs.' }),
      message: Type.String({ description: 'What happened and what to do next, for people.' }),
      param: Type.Optional(
        Type.String({ description: 'A JSON pointer to the first invalid field, or the name of a query parameter.' }),
      ),
      details: Type.Optional(
        Type.Array(Strict({ param: Type.String(), message: Type.String() }), {
          description: 'The invalid fields, at most 100.',
        }),
      ),
      request_id: Type.String(),
    }),
  },
  { title: 'Error' },
)
