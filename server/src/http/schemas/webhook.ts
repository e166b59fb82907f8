import { Id, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'

export const WebhookTest = Strict(
  {
    object: Type.Literal('webhook_test'),
    event_id: Id('evt', 'The id of the test event, which is also its `webhook-id`.'),
    endpoints: Type.Array(
      Strict({
        id: Id('whe', 'The id of the webhook endpoint.'),
        url: Type.String({
          description: 'Scheme and host of the URL that the test event is sent to; the rest is masked.',
          examples: ['https://example.com/****'],
        }),
        status: OneOf(['queued']),
      }),
      { description: 'The enabled webhook endpoints of the organization.' },
    ),
  },
  { title: 'WebhookTest' },
)
