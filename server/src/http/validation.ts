import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { parseMoney } from '../core/money.ts'
import { NOT_BLANK } from '../core/schema/fields.ts'
import { COUNTRIES, CURRENCIES } from '../core/schema/iso-codes.ts'
import { compileLater } from './compile-later.ts'
import {
  compileSizes,
  invalidName,
  type ObjectSchema,
  tooMany,
  unknownField,
  withDescription,
} from './validate-sizes.ts'
import { fieldName, VIOLATIONS_MAX, type Violation } from './violation.ts'

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  validateSchema: false, // a test does; here it would delay the first request of each process by 50 ms
  strictTypes: false,
  strictTuples: false,
  allowUnionTypes: true,
  verbose: true, // errors then carry their schema, whose examples and description go into the message
})
// Node gives ESM the whole CommonJS module as its default export.
;(addFormats as unknown as typeof addFormats.default)(ajv, ['date'])
// RFC 3339, with a year that JavaScript and PostgreSQL both support; neither supports leap seconds.
ajv.addFormat('date-time', (text) => DATE_TIME.test(text) && isSupportedYear(text) && isRealDay(text))

ajv.addFormat('money', { type: 'number', validate: (amount: number) => typeof parseMoney(amount) !== 'string' })
ajv.addFormat('reference', true) // its pattern says all; the format has the message
ajv.addFormat('iso-4217', (code) => CURRENCIES.has(code))
ajv.addFormat('iso-3166-1', (code) => COUNTRIES.has(code))

/** Lists the violations of a value: at most one per field, none if it is valid. Those past the first 100 are `UNLISTED`. */
export type Validate = (value: unknown) => Violation[]

/** Makes a schema into a check whose messages say what is expected. It is compiled later. */
export function compileValidation(schema: TSchema, options: { pointers: 'body' | 'query' }): Validate {
  return compileLater(() => compileNow(schema, options))
}

function compileNow(schema: TSchema, { pointers }: { pointers: 'body' | 'query' }): Validate {
  const { parts, whole } = splitLists(schema)
  const validate = compilePart(whole)
  const lists = parts.map(({ name, items }) => ({ name, validateItem: compilePart(items) }))
  return (value) => {
    const violations = validate(value, '')
    for (const { name, validateItem } of lists) {
      const items = violations.some(({ param }) => param === `/${name}`) ? [] : itemsOf(value, name)
      for (const [index, item] of items.entries())
        violations.push(...validateItem(item, `/${name}/${index}`, VIOLATIONS_MAX - violations.length))
    }
    if (pointers === 'body') return violations
    return violations.map(({ param, message }) => ({ param: param.replace(/^\//, ''), message }))
  }
}

/** Describes up to `listedMax` violations; the others are only counted. */
type ValidatePart = (value: unknown, place: string, listedMax?: number) => Violation[]

/** Stands for a violation that an answer counts and does not list: to describe 19,000 of them took 130 ms. */
const UNLISTED: Violation = { param: '', message: '' }

/** Compiles a schema that has no long lists: sizes are checked first, because ajv lists every violation there is. */
function compilePart(schema: ObjectSchema): ValidatePart {
  const validate = ajv.compile(schema)
  const findOversized = compileSizes(schema)
  return (value, place, listedMax = VIOLATIONS_MAX) => {
    const oversized = findOversized(value, place)
    if (oversized.length > 0) return oversized
    return validate(value) ? [] : violationsOf(validate.errors ?? [], { place, listedMax })
  }
}

/** A list that is longer than this is validated item by item, so that no schema lists the errors of all items at once. */
const SHORT_LIST_MAX = 20

/** Separates the items of the long lists in a schema from the rest of it. */
function splitLists(schema: ObjectSchema): { whole: ObjectSchema; parts: { name: string; items: ObjectSchema }[] } {
  const { properties = {} } = schema
  const long = Object.entries(properties).filter(([, { maxItems = 0 }]) => maxItems > SHORT_LIST_MAX)
  if (long.length === 0) return { whole: schema, parts: [] }
  const emptied = long.map(([name, list]) => [name, { ...list, items: {} }])
  return {
    whole: { ...schema, properties: { ...properties, ...Object.fromEntries(emptied) } },
    parts: long.map(([name, { items = {} }]) => ({ name, items })),
  }
}

function itemsOf(value: unknown, name: string): readonly unknown[] {
  const items = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  return Array.isArray(items) ? items : []
}

function violationsOf(
  errors: readonly ErrorObject[],
  { place, listedMax }: { place: string; listedMax: number },
): Violation[] {
  // Only the first violation of each field.
  const violations = new Map<string, Violation>()
  for (const error of errors) {
    // The errors of a union's branches are told by the error of the union itself; those of a name, by `propertyNames`; that a
    // condition does not hold, by the errors of what it asks for.
    if (error.schemaPath.includes('/anyOf/') || error.propertyName !== undefined || error.keyword === 'if') continue
    const { missingProperty = '', additionalProperty = '', propertyName = '' } = error.params
    const field = `${error.instancePath}/${missingProperty}${additionalProperty}${propertyName}`
    if (violations.has(field)) continue
    const isListed = violations.size < listedMax
    violations.set(field, isListed ? describe(closestBranch(error, errors), place) : UNLISTED)
  }
  return [...violations.values()]
}

/** For the error of a union, that of the branch which allows the type of the value; any other error as it is. */
function closestBranch(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject {
  if (union.keyword !== 'anyOf') return union
  const isOfBranch = ({ schemaPath, instancePath, keyword }: ErrorObject) =>
    keyword !== 'type' && instancePath === union.instancePath && schemaPath.startsWith(`${union.schemaPath}/`)
  return errors.find(isOfBranch) ?? union
}

/** The message for each keyword of JSON Schema; `what` is the name of the field. */
const MESSAGES: Record<string, (what: string, error: ErrorObject) => string> = {
  type: (what, { params }) => `${what} must be ${withArticle(params.type)}.`,
  enum: (what, { params }) => `${what} must be one of ${params.allowedValues.join(', ')}.`,
  format: (what, { parentSchema }) => expectedForm(what, parentSchema),
  pattern: (what, { params, parentSchema }) =>
    params.pattern === NOT_BLANK ? `${what} must not be blank.` : expectedForm(what, parentSchema),
  minLength: (what, { params }) =>
    `${what} must have at least ${params.limit} character${params.limit === 1 ? '' : 's'}.`,
  maxLength: (what, { params }) => `${what} must have at most ${params.limit} characters.`,
  minItems: (what, { params }) => `${what} must have at least ${params.limit} item${params.limit === 1 ? '' : 's'}.`,
  maxItems: (what, { params }) => tooMany(what, params.limit, 'items'),
  uniqueItems: (what) => `${what} must not repeat an item.`,
  minProperties: (what, { params }) =>
    `${what} must have at least ${params.limit} field${params.limit === 1 ? '' : 's'}.`,
  maxProperties: (what, { params }) => tooMany(what, params.limit, 'fields'),
  minimum: (what, { params }) => `${what} must be at least ${params.limit}.`,
  maximum: (what, { params }) => `${what} must be at most ${params.limit}.`,
  exclusiveMinimum: (what, { params }) => `${what} must be more than ${params.limit}.`,
  anyOf: (what, { schema }) => `${what} must be ${listOf((schema as { type: string }[]).map(({ type }) => type))}.`,
}

const FORMATS: Record<string, (what: string) => string> = {
  'date-time': (what) => `${what} must be an ISO 8601 time such as 2026-11-15T09:30:00Z.`,
  date: (what) => `${what} must be a day such as 2026-11-15.`,
  reference: (what) => `${what} must be 1 to 128 letters, digits and . _ : / - without spaces.`,
  money: (what) => `${what} must have at most four decimals and 15 digits.`,
  'iso-4217': (what) => `${what} must be a current ISO 4217 currency code such as EUR.`,
  'iso-3166-1': (what) => `${what} must be a current ISO 3166-1 country code such as DE.`,
}

function describe(error: ErrorObject, place: string): Violation {
  const { keyword, params, parentSchema } = error
  const here = place + error.instancePath
  if (keyword === 'required') {
    const param = `${here}/${params.missingProperty}`
    return { param, message: `${fieldName(param)} is required.` }
  }
  if (keyword === 'additionalProperties') return unknownField(here, params.additionalProperty)
  if (keyword === 'propertyNames') return invalidName(here, params.propertyName, parentSchema)
  const what = fieldName(here)
  return { param: here, message: MESSAGES[keyword]?.(what, error) ?? `${what} is not valid.` }
}

/** The message for text of the wrong form: names its format, else an example, else its description. */
function expectedForm(what: string, schema: ErrorObject['parentSchema'] = {}): string {
  const { format = '', examples } = schema as { format?: string; examples?: string[] }
  if (FORMATS[format]) return FORMATS[format](what)
  if (examples?.[0]) return `${what} must look like ${examples[0]}.`
  return withDescription(`${what} has the wrong form`, schema)
}

/** `number` and `null` become "a number or null". */
function listOf(types: readonly string[]): string {
  const words = types.map((type) => (type === 'null' ? type : withArticle(type)))
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

/** Years 1900 to 9999 in UTC: JavaScript, PostgreSQL and the comparison of texts order them alike. */
function isSupportedYear(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && time >= Date.UTC(1900) && time < Date.UTC(10_000)
}

/** Refuses 31 February, which Date.parse reads as 3 March. */
function isRealDay(text: string): boolean {
  const day = text.slice(0, 10)
  // Every month has a 28th, so only later days need the round trip.
  return Number(day.slice(8)) <= 28 || new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) === day
}
