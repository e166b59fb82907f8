import type { TSchema } from 'typebox'
import { pointerTo, shortened } from './json-body.ts'
import { fieldName, VIOLATIONS_MAX, type Violation } from './violation.ts'

/** The parts of a JSON schema that bound the size of a value. */
export type ObjectSchema = TSchema & {
  type?: string
  description?: string
  maxItems?: number
  maxProperties?: number
  additionalProperties?: boolean | object
  propertyNames?: object
  properties?: Record<string, ObjectSchema>
  items?: ObjectSchema
}

/** No schema allows a longer name; checked first, because ajv copies the name into every error. */
const NAME_LENGTH_MAX = 255

type FindOversized = (value: unknown, place: string) => Violation[]

/**
 * Compiles the check that a value has no more items and fields, and no longer names, than its schema allows. It costs
 * little on values of any size. Elements of arrays are not looked at.
 */
export function compileSizes(schema: ObjectSchema): FindOversized {
  const { maxItems = Number.POSITIVE_INFINITY, properties = {} } = schema
  const findInFields = compileFields(schema)
  const members = Object.entries(properties)
    .filter(([, { type }]) => type === 'object' || type === 'array')
    .map(([name, member]) => ({ name, find: compileSizes(member) }))
  return (value, place) => {
    if (typeof value !== 'object' || value === null) return []
    if (Array.isArray(value))
      return value.length > maxItems ? [{ param: place, message: tooMany(fieldName(place), maxItems, 'items') }] : []
    const found = findInFields(value, place)
    if (found.length > 0) return found
    return members.flatMap(({ name, find }) => find((value as Record<string, unknown>)[name], `${place}/${name}`))
  }
}

function compileFields(schema: ObjectSchema): (value: object, place: string) => Violation[] {
  const { maxProperties = Number.POSITIVE_INFINITY, additionalProperties, properties = {} } = schema
  const known = new Set(Object.keys(properties))
  const isClosed = additionalProperties === false
  return (value, place) => {
    const names = Object.keys(value)
    if (names.length > maxProperties)
      return [{ param: place, message: tooMany(fieldName(place), maxProperties, 'fields') }]
    if (isClosed && names.length > known.size + VIOLATIONS_MAX)
      return names.filter((name) => !known.has(name)).map((name) => unknownField(place, name))
    const long = names.filter((name) => name.length > NAME_LENGTH_MAX)
    return long.map((name) => (isClosed ? unknownField(place, name) : invalidName(place, name, schema)))
  }
}

/** The violation of a field that the object at a place does not have. */
export function unknownField(place: string, name: string): Violation {
  const param = place + pointerTo([name])
  return { param, message: `${fieldName(param)} is not a field of this request.` }
}

/** The violation of a name that the schema of its object does not allow. */
export function invalidName(place: string, name: string, schema: object = {}): Violation {
  const { propertyNames = {} } = schema as { propertyNames?: { maxLength?: number } }
  const { maxLength = NAME_LENGTH_MAX } = propertyNames
  const param = place + pointerTo([name])
  const shown = JSON.stringify(shortened(name))
  if (name.length > maxLength)
    return { param, message: `The name ${shown} has ${name.length} characters. Use at most ${maxLength}.` }
  return { param, message: withDescription(`${shown} is not a valid name here`, schema) }
}

/** The message for too many items or fields. */
export function tooMany(what: string, limit: number, of: 'items' | 'fields'): string {
  return `${what} must have at most ${limit} ${of}.`
}

/** Adds the description of a schema to a message, which then says what is expected. */
export function withDescription(message: string, schema: object = {}): string {
  const { description } = schema as { description?: string }
  return description ? `${message}: ${description}` : `${message}.`
}
