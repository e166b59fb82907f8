import { createNewId } from '../ids/new-id.ts'
import type { Installation } from '../installation/installation.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { DeliveryFilter, ListedDelivery } from '../store/environment/webhook-deliveries.ts'
import { type EventKey, queuedDelivery, type WebhookEndpoint } from '../store/environment/webhooks.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { domainEventRows, eventIdOf } from '../store/write-path/record.ts'
import { testedEndpoints, webhookTestEvent } from '../store/write-path/webhook-test-event.ts'
import { messageBody, requestHeaders } from '../webhooks/deliver.ts'
import { endpointEntry } from '../webhooks/endpoint-changes.ts'
import { contextOf, type EnvironmentAct, permitted, reasonOf } from './act.ts'
import { findEndpoint, timeOf } from './manage-webhooks.ts'
import { conflict, invalid, notFound } from './problem.ts'

const DAY_MS = 24 * 3_600_000
const REDELIVERIES_PER_WRITE = 1_000

/** Lists the deliveries to a webhook endpoint, newest events first. */
export const listDeliveries = permitted(
  'see the console',
  async (
    installation,
    act: EnvironmentAct,
    page: { id: string } & Omit<DeliveryFilter, 'organizationId' | 'endpointId'>,
  ): Promise<ListedDelivery[]> => {
    const { id: endpointId, ...filter } = page
    await findEndpoint(installation, act, endpointId)
    const { environment, organizationId } = act
    return installation.stores[environment].deliveries.page({ ...filter, organizationId, endpointId })
  },
)

/** Lists the attempts to deliver one event to a webhook endpoint, in order. */
export const listAttempts = permitted(
  'see the console',
  async (
    installation,
    act: EnvironmentAct,
    { id, eventId }: { id: string; eventId: string },
  ): Promise<RowOf<'webhook_attempts'>[]> => {
    await findEndpoint(installation, act, id)
    const { environment, organizationId } = act
    return installation.stores[environment].deliveries.attempts({ organizationId, endpointId: id, eventId })
  },
)

/** A delivery with the request that each attempt sent, for operators. */
export interface ShownDelivery {
  event_id: string
  event_type: string
  created_at: string
  state: string
  /** When the next attempt is due; null if there is none. */
  next_attempt_at: string | null
  /** The body of every attempt. */
  body: string
  attempts: (Pick<
    RowOf<'webhook_attempts'>,
    'number' | 'started_at' | 'duration_ms' | 'status' | 'error' | 'response'
  > & {
    /** The headers of the request; null if none was sent. */
    headers: Record<string, string> | null
  })[]
}

/** Shows one delivery with the body and the headers that were sent, also if its webhook endpoint was removed. */
export const showDelivery = permitted(
  'see the console',
  async (
    { stores },
    { environment, organizationId }: EnvironmentAct,
    { id: endpointId, eventId }: { id: string; eventId: string },
  ): Promise<ShownDelivery> => {
    const store = stores[environment]
    const key = { organizationId, endpointId, eventId }
    const [delivery, attempts] = await Promise.all([store.deliveries.find(key), store.deliveries.attempts(key)])
    if (!delivery) throw notFound('delivery_not_found', 'This delivery does not exist any more.')
    return {
      event_id: eventId,
      event_type: delivery.type,
      created_at: delivery.created_at,
      state: delivery.state,
      next_attempt_at: delivery.state === 'pending' ? delivery.due_at : null,
      body: messageBody(delivery, environment),
      attempts: attempts.map((attempt) => showAttempt(attempt, eventId)),
    }
  },
)

function showAttempt(attempt: RowOf<'webhook_attempts'>, eventId: string): ShownDelivery['attempts'][number] {
  const { number, started_at, duration_ms, status, error, response, signature, user_agent } = attempt
  const headers =
    signature === null || user_agent === null
      ? null
      : requestHeaders(user_agent, {
          'webhook-id': eventId,
          'webhook-timestamp': String(Math.floor(Date.parse(started_at) / 1_000)),
          'webhook-signature': signature,
        })
  return { number, started_at, duration_ms, status, error, response, headers }
}

/**
 * Queues the delivery of one event to a webhook endpoint again, or of all events since a moment that never reached it,
 * because the delivery failed for good or waits for another attempt, or the endpoint was disabled. Returns the number of
 * deliveries. The attempt at a single event leaves the health of the webhook endpoint as it is.
 */
export const redeliver = permitted(
  'manage webhooks',
  async (
    installation,
    act: EnvironmentAct,
    { id, what }: { id: string; what: { eventId: string } | { sinceMs: number } },
  ): Promise<{ queued: number }> => {
    const endpoint = await findEndpoint(installation, act, id)
    if (endpoint.state === 'disabled') throw conflict('endpoint_disabled', `${id} is disabled.`)
    const store = installation.stores[act.environment]
    if ('sinceMs' in what) requireKept(installation, what.sinceMs)
    const batches =
      'sinceMs' in what
        ? undelivered(store, endpoint, what.sinceMs)
        : [{ events: [await oneEvent(installation, act, what.eventId)], isLast: true }]
    let queued = 0
    for await (const { events, isLast } of batches) {
      const now = timeOf(installation)
      const range = { first_event_id: events[0]!.id, last_event_id: events.at(-1)!.id }
      const data = { deliveries: events.length, ...range, ...reasonOf(act) }
      const context = contextOf(installation, act)
      await commitOrThrow(store, {
        organizationId: act.organizationId,
        isStep: !isLast,
        queuedDeliveries: events.map((one) =>
          queuedDelivery(endpoint, { event: one, dueAt: now, isByHand: 'eventId' in what }),
        ),
        auditEntries: [endpointEntry(endpoint, context, { type: 'webhook_endpoint.redelivery', data })],
      })
      queued += events.length
    }
    return { queued }
  },
)

/** Older events and deliveries are deleted, and nothing says whether they arrived. */
function retentionOf({ nowMs, config }: Installation): { keptSince: string; kept: string } {
  return {
    keptSince: new Date(nowMs() - config.keepDays.webhooks * DAY_MS).toISOString(),
    kept: `Events and deliveries are kept for ${config.keepDays.webhooks} days`,
  }
}

function requireKept(installation: Installation, sinceMs: number): void {
  const { keptSince, kept } = retentionOf(installation)
  const since = new Date(sinceMs).toISOString()
  if (since < keptSince) throw invalid('since_too_early', `${kept}, and ${since} is before ${keptSince}.`)
}

async function oneEvent(
  installation: Installation,
  { environment, organizationId }: EnvironmentAct,
  eventId: string,
): Promise<EventKey> {
  const { keptSince, kept } = retentionOf(installation)
  const event = await installation.stores[environment].webhooks.event(organizationId, eventId)
  if (!event) throw notFound('event_not_found', `There is no event ${eventId} in ${environment}.`)
  if (event.created_at < keptSince)
    throw conflict('event_too_old', `${kept}, and ${eventId} was written at ${event.created_at}.`)
  return event
}

/** Events whose deliveries are queued by one write. */
interface Batch {
  events: EventKey[]
  isLast: boolean
}

/** Events that never reached a webhook endpoint, in batches. Ids sort by time: an id of a millisecond earlier is the start. */
async function* undelivered(
  store: EnvironmentStore,
  { org_id: organizationId, id: endpointId }: WebhookEndpoint,
  sinceMs: number,
): AsyncGenerator<Batch> {
  let afterEventId: string = createNewId(() => sinceMs - 1)('evt')
  while (true) {
    const limit = REDELIVERIES_PER_WRITE + 1
    const found = await store.webhooks.undeliveredEvents({ organizationId, endpointId, afterEventId, limit })
    const isLast = found.length < limit
    const events = found.slice(0, REDELIVERIES_PER_WRITE)
    if (events.length > 0) yield { events, isLast }
    if (isLast) return
    afterEventId = events.at(-1)!.id
  }
}

/** Queues a test event for every enabled webhook endpoint, as `POST /v1/webhook-test` does. */
export const sendTest = permitted(
  'manage webhooks',
  async (
    installation,
    act: EnvironmentAct,
  ): Promise<{ event_id: string; endpoints: ReturnType<typeof testedEndpoints> }> => {
    const { environment, organizationId } = act
    const { stores, newId, requestId = newId('req') } = installation
    const endpoints = await stores[environment].webhooks.endpoints(organizationId)
    const context = contextOf({ ...installation, requestId }, act)
    const auditEntries = domainEventRows(context, [webhookTestEvent(organizationId, requestId)])
    await commitOrThrow(stores[environment], { organizationId, auditEntries })
    return { event_id: eventIdOf(auditEntries[0]!.id), endpoints: testedEndpoints(endpoints) }
  },
)
