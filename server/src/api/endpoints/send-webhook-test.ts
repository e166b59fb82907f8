import { eventIdOf } from '../../store/write-path/record.ts'
import { testedEndpoints, webhookTestEvent } from '../../store/write-path/webhook-test-event.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { record } from '../record.ts'
import { WebhookTest } from '../schemas/webhook.ts'

/** Queues a test event for every enabled webhook endpoint, in the same way as all other events. */
export const sendWebhookTest = defineEndpoint({
  operationId: 'sendWebhookTest',
  summary: 'Send a test webhook to the registered endpoints',
  description:
    'Takes no body. The event `webhook.test` is sent to every enabled webhook endpoint, also if it does not subscribe to this type.',
  tag: 'Webhooks',
  method: 'POST',
  path: '/v1/webhook-test',
  scope: 'webhooks:write',
  succeeds: { 202: WebhookTest },
  fails: [],

  async handle(context) {
    const { caller, store, requestId } = context
    const endpoints = await store.webhooks.endpoints(caller.organizationId)
    const change = record(context, { domainEvents: [webhookTestEvent(caller.organizationId, requestId)] })
    const [entry] = change.auditEntries!
    return {
      status: 202,
      body: { object: 'webhook_test', event_id: eventIdOf(entry!.id), endpoints: testedEndpoints(endpoints) },
      change,
    }
  },
})
