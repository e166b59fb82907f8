import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
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
})
// The default export of a CommonJS module, as Node hands it to ESM.
;(addFormats as unknown as typeof addFormats.default)(ajv, ['date'])
// RFC 3339 with a year that both JavaScript and PostgreSQL can hold; leap seconds are in neither.
ajv.addFormat('date-time', (text) => DATE_TIME.test(text) && isKnownYear(text) && isRealDay(text))

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
  const violations = new Map<string, Violation>()
  for (const error of errors) {
    const violation = describe(error)
    if (violation && violations.size < VIOLATIONS_MAX)
      violations.set(`${violation.param} ${violation.message}`, violation)
  }
  return [...violations.values()]
}

function describe({ keyword, instancePath, params, message, propertyName }: ErrorObject): Violation | undefined {
  const here = instancePath
  const name = instancePath.split('/').at(-1) || 'The body'
  switch (keyword) {
    case 'required':
      return { param: `${here}/${params.missingProperty}`, message: `${params.missingProperty} is required.` }
    case 'additionalProperties':
      return {
        param: `${here}/${escapePointer(params.additionalProperty)}`,
        message: `${params.additionalProperty} is not a field of this request.`,
      }
    case 'type':
      return { param: here, message: `${name} must be ${withArticle(params.type)}.` }
    case 'enum':
      return { param: here, message: `${name} must be one of ${params.allowedValues.join(', ')}.` }
    case 'format':
      return {
        param: here,
        message:
          params.format === 'date-time'
            ? `${name} must be an ISO 8601 time such as 2026-11-15T09:30:00Z.`
            : `${name} must be a day such as 2026-11-15.`,
      }
    case 'pattern':
      // The name of a member that breaks its pattern is reported as the property name's error below.
      return propertyName === undefined
        ? { param: here, message: `${name} does not have the form ${params.pattern}.` }
        : undefined
    case 'propertyNames':
      return {
        param: `${here}/${escapePointer(params.propertyName)}`,
        message: `${JSON.stringify(params.propertyName)} cannot be a name here.`,
      }
    case 'minLength':
    case 'maxLength':
      return propertyName === undefined
        ? {
            param: here,
            message: `${name} must have ${keyword === 'minLength' ? 'at least' : 'at most'} ${params.limit} characters.`,
          }
        : undefined
    case 'anyOf':
      return { param: here, message: `${name} must be a number, a text, true, false or null.` }
    default:
      return { param: here, message: `${name} ${message ?? 'cannot be accepted'}.` }
  }
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
  return new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) === day
}
