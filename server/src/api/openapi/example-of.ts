type Schema = Record<string, unknown>

/** Builds an example value of a schema from the examples, constants and formats of its parts. */
export function exampleOf(schema: Schema): unknown {
  const { examples, const: constant, enum: options, anyOf, type } = schema
  if (Array.isArray(examples)) return examples[0]
  if (constant !== undefined) return constant
  if (Array.isArray(options)) return options[0]
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0] as Schema)
  switch (type) {
    case 'object':
      return exampleOfObject(schema)
    case 'array':
      return [exampleOf(schema.items as Schema)]
    case 'string':
      return exampleOfString(schema)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return Number(schema.minimum ?? 1)
  }
}

function exampleOfObject({ properties = {} }: Schema): Record<string, unknown> {
  const entries = Object.entries(properties as Record<string, Schema>)
  return Object.fromEntries(entries.map(([name, property]) => [name, exampleOf(property)]))
}

function exampleOfString({ pattern, format }: Schema): string {
  if (format === 'date') return '2026-11-15'
  if (format === 'date-time') return '2026-11-15T09:30:00.000Z'
  return pattern === '^[0-9a-f]{64}$' ? '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' : 'text'
}
