/** Values generated from JSON schemas: valid ones, and valid ones that were broken in one place. */

/** A JSON schema, as far as openapi.json uses it. */
export interface JsonSchema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  examples?: unknown[]
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  required?: string[]
  properties?: Record<string, JsonSchema>
  additionalProperties?: boolean | JsonSchema
  propertyNames?: JsonSchema
  items?: JsonSchema
  anyOf?: JsonSchema[]
}

type Random = () => number

/** What a generator draws from: randomness, the schemas that references name, and ids that exist. */
export interface Source {
  random: Random
  resolve: (ref: string) => JsonSchema
  /** An existing id whose prefix is this, if there is one. */
  existingId: (prefix: string) => string | undefined
}

/** One of several, at random. */
export function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)]!
}

/** A value that the schema allows; rules that a schema cannot state, such as "not in the future", may still refuse it. */
export function validValue(schema: JsonSchema, source: Source): unknown {
  const { random } = source
  if (schema.$ref) return validValue(source.resolve(schema.$ref), source)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return pick(random, schema.enum)
  if (schema.anyOf) return validValue(pick(random, schema.anyOf), source)
  switch (schema.type) {
    case 'object':
      return validObject(schema, source)
    case 'array':
      return Array.from(
        { length: lengthBetween(random, schema.minItems ?? 0, Math.min(schema.maxItems ?? 3, 30)) },
        () => validValue(schema.items ?? {}, source),
      )
    case 'integer':
      return Math.round(numberBetween(schema, random))
    case 'number':
      return Math.round(numberBetween(schema, random) * 100) / 100 || 0.01
    case 'boolean':
      return random() < 0.5
    case 'null':
      return null
    case 'string':
      return validText(schema, source)
    default:
      return 'any'
  }
}

function validObject(schema: JsonSchema, source: Source): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  const value: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(properties))
    if (required.includes(name) || source.random() < 0.6) value[name] = validValue(member, source)
  if (typeof additionalProperties !== 'object') return value
  const count = lengthBetween(source.random, schema.minProperties ?? 0, 5)
  for (let index = 0; index < count; index++)
    value[`name_${Math.floor(source.random() * 20)}`] = validValue(additionalProperties, source)
  return value
}

function validText(
  { pattern = '', format, examples, minLength = 0, maxLength = 50 }: JsonSchema,
  source: Source,
): string {
  const { random } = source
  const prefix = /^\^([a-z]{3})_/.exec(pattern)?.[1]
  if (prefix) return source.existingId(prefix) ?? String(examples?.[0])
  if (pattern.includes('0-9a-f')) return 'ab'.repeat(32)
  if (format === 'date-time') return dateTime(random)
  if (format === 'date') return `2026-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 9)}`
  if (format && examples) return String(examples[0])
  const length = lengthBetween(random, Math.max(1, minLength), Math.min(maxLength, 40))
  return Array.from({ length }, () => pick(random, ['a', 'B', '7', 'é', '😀', '"', '\\', '/', ' x', '-', 'ß', '漢']))
    .join('')
    .slice(0, maxLength)
    .toWellFormed()
}

function numberBetween({ minimum, exclusiveMinimum, maximum = 1e6 }: JsonSchema, random: Random): number {
  const least = minimum ?? exclusiveMinimum ?? 0
  return least + random() * Math.min(maximum - least, random() < 0.1 ? maximum : 1_000)
}

function lengthBetween(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (Math.max(least, most) - least + 1))
}

/** Values that no schema, or hardly any, allows at a given place. */
const INTRUDERS: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  0,
  -1,
  1e308,
  1.00001,
  [],
  {},
  [[[]]],
  { a: { b: {} } },
  'x'.repeat(6_000),
  '0',
  'NaN',
  '__proto__',
  '2026-02-31T00:00:00Z',
  '9999-12-31T23:59:59-12:00',
  'ent_',
  "'; DROP TABLE entities; --",
  'a\u0000b',
  '\ud800',
  Number.MAX_SAFE_INTEGER,
]

/** A copy of a value with one place broken: replaced, removed, added, repeated. */
export function brokenValue(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.1) return pick(random, INTRUDERS)
  if (Array.isArray(value)) {
    if (value.length === 0 || random() < 0.2) return Array(pick(random, [21, 1_001, 5_000])).fill(value[0] ?? 1)
    const index = Math.floor(random() * value.length)
    return value.map((item, at) => (at === index ? brokenValue(item, random) : item))
  }
  const entries = Object.entries(value)
  if (entries.length === 0 || random() < 0.2)
    return { ...value, [pick(random, ['surprise', 'constructor', '~/', '', 'n'.repeat(300)])]: 1 }
  const [name, member] = pick(random, entries)
  if (random() < 0.2) return Object.fromEntries(entries.filter(([other]) => other !== name))
  return { ...value, [name]: brokenValue(member, random) }
}

/** A text of JSON that was damaged: cut short, a character changed, a member twice, something after it. */
export function brokenText(text: string, random: Random): string {
  const at = Math.floor(random() * text.length)
  return pick(random, [
    () => text.slice(0, at),
    () => text.slice(0, at) + pick(random, ['"', '}', '\\', '\u0000', '[', ',', '1e9']) + text.slice(at + 1),
    () => text.replace(/^\{("[^"]*":[^,}]*)/, '{$1,$1'),
    () => `${text}${text}`,
    () => `[${text}]`,
    () => '',
    () => '['.repeat(at * 50),
  ])()
}

/** Often now: an outcome cannot precede its decision. */
function dateTime(random: Random): string {
  if (random() < 0.5) return new Date().toISOString()
  return new Date(Date.UTC(2026, 0, 1) + random() * 300 * 86_400_000).toISOString()
}
