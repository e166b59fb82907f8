import { Id, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'

export const WebhookTest = Strict(
  {
    object: Type.Literal('webhook_test'),
    event_id: Id('evt', 'The id of the test event; every endpoint gets it as `webhook-id`.'),
    endpoints: Type.Array(
      Strict({
        id: Id('whe', 'The id of the endpoint.'),
        url: Type.String({ description: 'Where the test goes.', examples: ['https://example.com/webhooks'] }),
        status: OneOf(['queued']),
      }),
      { description: 'The enabled endpoints of the organization; empty when there is none.' },
    ),
  },
  { title: 'WebhookTest' },
)
