import type { WebhookEndpoint } from '../environment/webhooks.ts'
import type { DomainEvent } from './record.ts'

/** The event that tests webhooks: it goes to every enabled webhook endpoint, whatever types that names. */
export function webhookTestEvent(organizationId: string, requestId: string): DomainEvent {
  const subject = { type: 'organization', id: organizationId }
  return { type: 'webhook.test', subject, trailId: organizationId, data: { request_id: requestId } }
}

/** The webhook endpoints that a test event goes to. */
export function testedEndpoints(endpoints: readonly WebhookEndpoint[]) {
  return endpoints
    .filter(({ state }) => state === 'enabled')
    .map(({ id, shown_url: url }) => ({ id, url, status: 'queued' as const }))
}
