import type { Static, TSchema } from 'typebox'
import { type IdPrefix, idPattern } from '../../ids/ids.ts'
import { Type } from './type.ts'

/** An id of a kind of thing. */
export function Id(prefix: IdPrefix, description: string) {
  return Type.String({ pattern: idPattern(prefix), description, examples: [`${prefix}_06fk3v8tz9y7q2m4n6p8r0s1t3`] })
}

/** A moment as callers write it: ISO 8601 with any offset. */
export const Timestamp = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description, examples: ['2026-11-15T09:30:00.000Z'] })

/** An ISO 4217 currency code. */
export const Currency = Type.String({
  pattern: '^[A-Z]{3}$',
  format: 'iso-4217',
  description: 'ISO 4217 currency code, such as EUR.',
  examples: ['EUR'],
})

/** An amount of money in major units, which must be one that is kept exactly. */
export const Money = (bounds: { minimum?: number; exclusiveMinimum?: number; maximum: number }, description: string) =>
  Type.Number({ ...bounds, format: 'money', description: `${description} At most four decimals and 15 digits.` })

/** Free text of a caller, bounded. */
export const Text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })

/** A closed set of words. */
export function OneOf<const W extends readonly string[]>(words: W, options: { description?: string } = {}) {
  return Type.Unsafe<W[number]>({ type: 'string', enum: [...words], ...options })
}

/** A value that may be null; written as a union so that every tool reads it alike. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** An object without room for unknown fields: a typo in a credit request must not pass silently. */
export function Strict<const P extends Parameters<typeof Type.Object>[0]>(
  properties: P,
  options: { title?: string; description?: string; examples?: unknown[] } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

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

/** The pattern of a text that has to say something. */
export const NOT_BLANK = '\\S'
