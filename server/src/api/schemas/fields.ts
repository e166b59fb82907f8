import type { Static } from 'typebox'
import { NOT_BLANK, OneOf, Open, Strict, Text } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { ENVIRONMENTS, SOURCE_KINDS } from '../../core/vocabularies.ts'

export const METADATA_KEYS_MAX = 50

/** The environment that an object belongs to. */
export const EnvironmentName = OneOf(ENVIRONMENTS, { description: 'The environment that it belongs to.' })

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

const dataSource = {
  kind: OneOf(SOURCE_KINDS, { description: 'What the source is.' }),
  name: Type.Optional(Text(255, 'Its name.')),
  address: Type.Optional(Text(500, 'Its postal address.')),
  phone: Type.Optional(Text(50, 'Its telephone number.')),
}
const SOURCE = 'Where the data comes from: a notice to the applicant has to name it.'

/** The source of data, as a request names it. */
export const DataSourceRequest = Strict(dataSource, { title: 'DataSourceRequest', description: SOURCE })
export type DataSourceRequest = Static<typeof DataSourceRequest>

/** The source of data, as an answer names it. */
export const DataSource = Open(dataSource, { title: 'DataSource', description: SOURCE })

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
export const ErrorBody = Open(
  {
    error: Open(
      {
        type: OneOf(
          [
            'invalid_request',
            'authentication',
            'permission',
            'not_found',
            'conflict',
            'idempotency',
            'rate_limit',
            'api',
          ],
          { description: 'The kind of error. Each code has one type, and each type one or two statuses.' },
        ),
        code: Type.String({ description: 'A stable code, for programs.' }),
        message: Type.String({ description: 'What happened and what to do next, for people.' }),
        param: Type.Optional(
          Type.String({ description: 'A JSON pointer to the first invalid field, or the name of a query parameter.' }),
        ),
        details: Type.Optional(
          Type.Array(
            Open({
              param: Type.String({ description: 'A JSON pointer to the field, or the name of a query parameter.' }),
              message: Type.String({ description: 'What is wrong with it.' }),
            }),
            { description: 'The invalid fields, at most 100; `message` says how many there are.' },
          ),
        ),
        docs: Type.String({ description: 'The page about the code, as a path in the repository of the service.' }),
        request_id: Type.String({ description: 'The id of the request, as in the header `Request-Id`.' }),
      },
      { description: 'What went wrong, and what to do about it.' },
    ),
  },
  { title: 'Error', description: 'The body of every answer that is not a success.' },
)
