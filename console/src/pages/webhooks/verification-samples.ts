/** How a receiver verifies an event with a library of Standard Webhooks, in three languages. */
export const VERIFICATION_SAMPLES = [
  {
    name: 'Node',
    code: `import { Webhook } from 'standardwebhooks'

// rawBody: the bytes as they arrived, not parsed JSON
const event = new Webhook(secret).verify(rawBody, request.headers)`,
  },
  {
    name: 'Python',
    code: `from standardwebhooks.webhooks import Webhook

# request.data: the bytes as they arrived
event = Webhook(secret).verify(request.data, request.headers)`,
  },
  {
    name: 'Go',
    code: `import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

webhook, err := standardwebhooks.NewWebhook(secret)
// body: the bytes as they arrived
err = webhook.Verify(body, request.Header)`,
  },
] as const
