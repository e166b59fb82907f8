import type { EnvironmentStore } from '../../store/environment/environment-store.ts'

/** How attempts to deliver events went in a period, and how the webhook endpoints are now. */
export interface WebhookHealth {
  endpoints: { well: number; failing: number; disabled: number }
  /** Attempts that a receiver accepted. */
  delivered: number
  /** Attempts that a receiver refused or did not answer. */
  failed: number
}

/** Reads how webhooks went since a time. */
export async function webhookFigures(
  store: EnvironmentStore,
  organizationId: string,
  since: string,
): Promise<WebhookHealth> {
  const endpoints = await store.webhooks.endpoints(organizationId)
  const ids = endpoints.map(({ id }) => id)
  const hours = ids.length > 0 ? await store.deliveries.attemptsByHour(organizationId, ids, since) : []
  const enabled = endpoints.filter(({ state }) => state === 'enabled')
  const failing = enabled.filter(({ failing_since }) => failing_since !== null)
  return {
    endpoints: {
      well: enabled.length - failing.length,
      failing: failing.length,
      disabled: endpoints.filter(({ state }) => state === 'disabled').length,
    },
    delivered: hours.reduce((sum, { delivered }) => sum + delivered, 0),
    failed: hours.reduce((sum, { failed }) => sum + failed, 0),
  }
}
