import { WEBHOOK_EVENTS } from '../../server/src/api/schemas/webhook-event.ts'
import { anchor, code, type Page, table } from './markdown.ts'

/** The parts of a JSON Schema that the fields of an event use. */
interface FieldSchema {
  type?: string
  enum?: readonly string[]
  format?: string
  items?: FieldSchema
  anyOf?: readonly FieldSchema[]
  description?: string
  examples?: readonly unknown[]
}

/** The events that webhooks deliver, with the fields of their data. */
export function eventTypesPage(): Page {
  return {
    title: 'Event types',
    lists: 'the events that webhooks deliver',
    source: 'server/src/api/schemas/webhook-event.ts',
    body: [
      'The body of an event is `{"id", "type", "timestamp", "environment", "data"}`; the tables below list the fields of `data`. Later versions may add fields. [Webhooks](../webhooks.md) describes how events are delivered.',
      table(
        ['type', 'when'],
        WEBHOOK_EVENTS.map(({ type, summary }) => [`[${code(type)}](#${anchor(type)})`, `${summary}.`]),
      ),
      ...WEBHOOK_EVENTS.flatMap(describe),
    ],
  }
}

function describe({ type, summary, body }: (typeof WEBHOOK_EVENTS)[number]): string[] {
  const { properties, required = [] } = body.properties.data as unknown as {
    properties: Record<string, FieldSchema>
    required?: readonly string[]
  }
  const rows = Object.entries(properties).map(([name, field]) => [
    code(name),
    `${describeType(field)}${required.includes(name) ? '' : ', optional'}`,
    describeField(field),
  ])
  return [`## ${type}`, `${summary}.`, table(['field', 'type', 'meaning'], rows)]
}

function describeType({ type, enum: words, format, items, anyOf, examples }: FieldSchema): string {
  if (anyOf) return anyOf.map(describeType).join(' or ')
  if (words) return `${words.slice(0, -1).map(code).join(', ')} or ${code(words.at(-1)!)}`
  if (items) return `array of ${describeType(items)}s`
  const prefix = idPrefix(examples)
  if (prefix) return `id, ${code(`${prefix}…`)}`
  return format === 'date-time' ? 'ISO 8601 time' : String(type)
}

/** The prefix of an id, such as `ent_`, where the example of a field is one. */
function idPrefix(examples: readonly unknown[] | undefined): string | undefined {
  return /^[a-z]+_(?=[0-9a-z]{26}$)/.exec(String(examples?.[0]))?.[0]
}

/** The description of a field, and an example where it has one that says more than its type. */
function describeField({ description, anyOf, examples, format }: FieldSchema): string {
  const text = description ?? anyOf?.find((schema) => schema.description)?.description ?? ''
  const [example] = format === 'date-time' || idPrefix(examples) ? [] : (examples ?? [])
  if (example === undefined) return text
  return `${text} Example: ${code(typeof example === 'string' ? example : JSON.stringify(example))}`.trim()
}
