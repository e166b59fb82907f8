import { Id, ObjectName, OneOf, Open } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'

export const WebhookTest = Open(
  {
    object: ObjectName('webhook_test'),
    event_id: Id('evt', 'The id of the test event, which is also its `webhook-id`.'),
    endpoints: Type.Array(
      Open({
        id: Id('whe', 'The id of the webhook endpoint.'),
        url: Type.String({
          description: 'Scheme and host of the URL that the test event is sent to; the rest is masked.',
          examples: ['https://example.com/****'],
        }),
        status: OneOf(['queued'], { description: 'The event is sent as soon as possible.' }),
      }),
      { description: 'The enabled webhook endpoints of the organization.' },
    ),
  },
  { title: 'WebhookTest', description: 'The test event, and where it is sent.' },
)
