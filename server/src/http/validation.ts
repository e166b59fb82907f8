import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { parseMoney } from '../core/money.ts'
import { NOT_BLANK } from '../core/schema/fields.ts'
import type { Violation } from './api-error.ts'
import { escapePointer } from './json-body.ts'

/** A body with a thousand bad elements is bad enough after this many violations. */
const VIOLATIONS_MAX = 100

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictTuples: false,
  allowUnionTypes: true,
  verbose: true, // errors then carry their schema, whose description tells what would do
})
// The default export of a CommonJS module, as Node hands it to ESM.
;(addFormats as unknown as typeof addFormats.default)(ajv, ['date'])
// RFC 3339 with a year that both JavaScript and PostgreSQL can hold; leap seconds are in neither.
ajv.addFormat('date-time', (text) => DATE_TIME.test(text) && isKnownYear(text) && isRealDay(text))

ajv.addFormat('money', { type: 'number', validate: (amount: number) => typeof parseMoney(amount) !== 'string' })
const currencies = new Set(Intl.supportedValuesOf('currency'))
ajv.addFormat('iso-4217', (code) => currencies.has(code))
const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
ajv.addFormat('iso-3166-1', (code) => /^[A-Z]{2}$/.test(code) && code !== 'ZZ' && regions.of(code) !== undefined)

/** Says everything that is wrong with a value, or nothing. */
export type Validate = (value: unknown) => Violation[]

/** Compiles a schema into a check whose messages a person can act on. */
export function compileValidation(schema: TSchema, { pointers }: { pointers: 'body' | 'query' }): Validate {
  const validate = ajv.compile(schema)
  return (value) => {
    if (validate(value)) return []
    return violationsOf(validate.errors ?? []).map(({ param, message }) => ({
      param: pointers === 'body' ? param : param.replace(/^\//, ''),
      message,
    }))
  }
}

function violationsOf(errors: readonly ErrorObject[]): Violation[] {
  // One thing at a time for each field: the first that is wrong with it.
  const violations = new Map<string, Violation>()
  for (const error of errors) {
    // The branches of a union each say what they miss; the union itself says it better.
    if (error.schemaPath.includes('/anyOf/')) continue
    const violation = describe(error)
    if (violation && violations.size < VIOLATIONS_MAX && !violations.has(violation.param))
      violations.set(violation.param, violation)
  }
  return [...violations.values()]
}

/** What a person should be told for each keyword of a schema; `what` is the field's name. */
const MESSAGES: Record<string, (what: string, error: ErrorObject) => string> = {
  type: (what, { params }) => `${what} must be ${withArticle(params.type)}.`,
  enum: (what, { params }) => `${what} must be one of ${params.allowedValues.join(', ')}.`,
  format: (what, { parentSchema }) => wantedForm(what, parentSchema),
  pattern: (what, { params, parentSchema }) =>
    params.pattern === NOT_BLANK ? `${what} must not be blank.` : wantedForm(what, parentSchema),
  minLength: (what, { params }) =>
    `${what} must have at least ${params.limit} character${params.limit === 1 ? '' : 's'}.`,
  maxLength: (what, { params }) => `${what} must have at most ${params.limit} characters.`,
  minItems: (what, { params }) => `${what} must have at least ${params.limit} item${params.limit === 1 ? '' : 's'}.`,
  maxItems: (what, { params }) => `${what} must have at most ${params.limit} items.`,
  uniqueItems: (what) => `${what} must not repeat an item.`,
  minProperties: (what, { params }) =>
    `${what} must have at least ${params.limit} field${params.limit === 1 ? '' : 's'}.`,
  maxProperties: (what, { params }) => `${what} must have at most ${params.limit} fields.`,
  minimum: (what, { params }) => `${what} must be at least ${params.limit}.`,
  maximum: (what, { params }) => `${what} must be at most ${params.limit}.`,
  exclusiveMinimum: (what, { params }) => `${what} must be more than ${params.limit}.`,
  anyOf: (what) => `${what} must be a number, a text, true, false or null.`,
}

const FORMATS: Record<string, (what: string) => string> = {
  'date-time': (what) => `${what} must be an ISO 8601 time such as 2026-11-15T09:30:00Z.`,
  date: (what) => `${what} must be a day such as 2026-11-15.`,
  money: (what) => `${what} cannot be kept exactly: at most four decimals and 15 digits.`,
  'iso-4217': (what) => `${what} must be an ISO 4217 currency code such as EUR.`,
  'iso-3166-1': (what) => `${what} must be an ISO 3166-1 country code such as DE.`,
}

function describe(error: ErrorObject): Violation | undefined {
  const { keyword, instancePath: here, params, propertyName } = error
  if (keyword === 'required')
    return { param: `${here}/${params.missingProperty}`, message: `${params.missingProperty} is required.` }
  if (keyword === 'additionalProperties') {
    return {
      param: `${here}/${escapePointer(params.additionalProperty)}`,
      message: `${params.additionalProperty} is not a field of this request.`,
    }
  }
  if (keyword === 'propertyNames') {
    return {
      param: `${here}/${escapePointer(params.propertyName)}`,
      message: `${JSON.stringify(params.propertyName)} cannot be a name here.`,
    }
  }
  // What is wrong with a name is told by the keyword above.
  if (propertyName !== undefined) return undefined
  const what = here.split('/').at(-1) || 'The body'
  return { param: here, message: MESSAGES[keyword]?.(what, error) ?? `${what} cannot be accepted.` }
}

/** What a text should look like: by its format, by an example, or else by what it is. */
function wantedForm(what: string, schema: ErrorObject['parentSchema'] = {}): string {
  const {
    format = '',
    examples,
    description,
  } = schema as { format?: string; examples?: string[]; description?: string }
  if (FORMATS[format]) return FORMATS[format](what)
  if (examples?.[0]) return `${what} must look like ${examples[0]}.`
  return `${what} does not have the right form${description ? `: ${description}` : '.'}`
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

/** Years that JavaScript, PostgreSQL and plain text order alike, also after the offset was taken into account. */
function isKnownYear(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && time >= Date.UTC(1900) && time < Date.UTC(10_000)
}

/** Date.parse takes 31 February for 3 March; people who write it mean neither. */
function isRealDay(text: string): boolean {
  const day = text.slice(0, 10)
  // Every month has the first 28.
  return Number(day.slice(8)) <= 28 || new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) === day
}
