import { Id, OneOf, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { ENVIRONMENTS } from '../../core/vocabularies.ts'
import { EVENT_TYPES, EVENTS, type EventType } from '../../core/webhooks/event-types.ts'

/** The schema of an event's body. It allows unknown fields, because later versions may add some. */
function describeBody(type: EventType) {
  return Type.Object(
    {
      id: Id('evt', 'The id of the event, the same on every attempt and equal to `webhook-id`.'),
      type: Type.Literal(type, { description: 'The type of the event.' }),
      timestamp: Timestamp('When it happened.'),
      environment: OneOf(ENVIRONMENTS, { description: 'The environment in which it happened.' }),
      data: Type.Object(EVENTS[type].data, {
        description: 'What it is about: ids, verdicts and versions, never personal data.',
      }),
    },
    { title: titleOf(type), description: `${EVENTS[type].summary}.` },
  )
}

/** `entity.created` becomes `EntityCreatedEvent`. */
function titleOf(type: EventType): string {
  return `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`
}

/** Every event that webhooks deliver, with the schema of its body. */
export const WEBHOOK_EVENTS = EVENT_TYPES.map((type) => ({
  type,
  summary: EVENTS[type].summary,
  body: describeBody(type),
}))
