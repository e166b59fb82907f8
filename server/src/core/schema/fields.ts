import type { TSchema } from 'typebox'
import { type IdPrefix, idPattern } from '../id-format.ts'
import { Type } from './type.ts'

/** An id with the prefix of its type. */
export function Id(prefix: IdPrefix, description: string) {
  return Type.String({ pattern: idPattern(prefix), description, examples: [exampleId(prefix)] })
}

/** An id for the examples of the API. */
function exampleId(prefix: IdPrefix): string {
  return prefix === 'org' ? 'org_6fk3v8tz9y' : `${prefix}_06fk3v8tz9y7q2m4n6p8r0s1t3`
}

/** An instant in ISO 8601, with any offset. */
export const Timestamp = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description, examples: ['2026-11-15T09:30:00.000Z'] })

/** A day in ISO 8601, of a year that JavaScript and PostgreSQL both support. */
export const Day = (description: string) =>
  Type.String({ format: 'date', pattern: '^(19|[2-9][0-9])', description, examples: ['2026-11-15'] })

/** An ISO 4217 currency code. */
export const Currency = Type.String({
  pattern: '^[A-Z]{3}$',
  format: 'iso-4217',
  description: 'ISO 4217 currency code, such as EUR.',
  examples: ['EUR'],
})

/** An amount of money in major units, of a precision that is stored exactly. */
export const Money = (bounds: { minimum?: number; exclusiveMinimum?: number; maximum: number }, description: string) =>
  Type.Number({ ...bounds, format: 'money', description: `${description} At most four decimals and 15 digits.` })

/** Free text of bounded length. */
export const Text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })

/** One of a fixed set of words. */
export function OneOf<const W extends readonly string[]>(words: W, options: { description?: string } = {}) {
  return Type.Unsafe<W[number]>({ type: 'string', enum: [...words], ...options })
}

/** The field `object` of an answer, which names its type. */
export const ObjectName = <const N extends string>(name: N) =>
  Type.Literal(name, { description: `The type of this object: \`${name}\`.` })

/** A value that may be null; a union, because tools disagree about the older `nullable`. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** An object that refuses unknown fields, so that a typo in a credit request is an error. */
export function Strict<const P extends Parameters<typeof Type.Object>[0]>(
  properties: P,
  options: { title?: string; description?: string; examples?: unknown[] } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

/** An object of an answer. It allows unknown fields, because later versions may add some. */
export function Open<const P extends Parameters<typeof Type.Object>[0]>(
  properties: P,
  options: { title?: string; description?: string } = {},
) {
  return Type.Object(properties, options)
}

/** A SHA-256 in lowercase hexadecimal. */
export const Sha256 = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })

/** The pattern of a text that is not blank. */
export const NOT_BLANK = '\\S'
