import { createNewId } from '../ids/new-id.ts'
import type { Installation } from '../installation/installation.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { DeliveryFilter, ListedDelivery } from '../store/environment/webhook-deliveries.ts'
import { type EventKey, queuedDelivery, type WebhookEndpoint } from '../store/environment/webhooks.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { domainEventRows } from '../store/write-path/record.ts'
import { testedEndpoints, webhookTestEvent } from '../store/write-path/webhook-test-event.ts'
import { messageBody, requestHeaders } from '../webhooks/deliver.ts'
import { endpointEntry } from '../webhooks/endpoint-changes.ts'
import { findEndpoint, type Problem, reasonOf, timeOf, type WebhookAct, type WebhookOwner } from './manage-webhooks.ts'
import { recordContext } from './record-context.ts'

const DAY_MS = 24 * 3_600_000
const REDELIVERIES_PER_WRITE = 1_000

/** Lists the deliveries to a webhook endpoint, newest events first. */
export async function listDeliveries(
  installation: Installation,
  owner: WebhookOwner,
  page: { id: string } & Omit<DeliveryFilter, 'organizationId' | 'endpointId'>,
): Promise<ListedDelivery[] | Problem> {
  const endpoint = await findEndpoint(installation, owner, page.id)
  if ('problem' in endpoint) return endpoint
  const { environment, organizationId } = owner
  const { id: endpointId, ...filter } = page
  return installation.stores[environment].deliveries.page({ ...filter, organizationId, endpointId })
}

/** Lists the attempts to deliver one event to a webhook endpoint, in order. */
export async function listAttempts(
  installation: Installation,
  owner: WebhookOwner,
  { id, eventId }: { id: string; eventId: string },
): Promise<RowOf<'webhook_attempts'>[] | Problem> {
  const endpoint = await findEndpoint(installation, owner, id)
  if ('problem' in endpoint) return endpoint
  const { environment, organizationId } = owner
  return installation.stores[environment].deliveries.attempts({ organizationId, endpointId: id, eventId })
}

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
export async function showDelivery(
  { stores }: Installation,
  { environment, organizationId }: WebhookOwner,
  { id: endpointId, eventId }: { id: string; eventId: string },
): Promise<ShownDelivery | undefined> {
  const store = stores[environment]
  const key = { organizationId, endpointId, eventId }
  const [delivery, attempts] = await Promise.all([store.deliveries.find(key), store.deliveries.attempts(key)])
  if (!delivery) return undefined
  return {
    event_id: eventId,
    event_type: delivery.type,
    created_at: delivery.created_at,
    state: delivery.state,
    next_attempt_at: delivery.state === 'pending' ? delivery.due_at : null,
    body: messageBody(delivery, environment),
    attempts: attempts.map(({ number, started_at, duration_ms, status, error, response, signature, user_agent }) => ({
      ...{ number, started_at, duration_ms, status, error, response },
      headers:
        signature === null || user_agent === null
          ? null
          : requestHeaders(user_agent, {
              'webhook-id': eventId,
              'webhook-timestamp': String(Math.floor(Date.parse(started_at) / 1_000)),
              'webhook-signature': signature,
            }),
    })),
  }
}

/**
 * Queues the delivery of one event to a webhook endpoint again, or of all events since a moment that never reached it,
 * because the delivery failed for good or waits for another attempt, or the endpoint was disabled. Returns the number of
 * deliveries. The attempt at a single event leaves the health of the webhook endpoint as it is.
 */
export async function redeliver(
  installation: Installation,
  act: WebhookAct,
  { id, what }: { id: string; what: { eventId: string } | { sinceMs: number } },
): Promise<{ queued: number } | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  if (endpoint.state === 'disabled') return { problem: `${id} is disabled: enable it first` }
  const store = installation.stores[act.environment]
  const batches =
    'sinceMs' in what
      ? (sinceProblem(installation, what.sinceMs) ?? undelivered(store, endpoint, what.sinceMs))
      : await oneEvent(installation, act, what.eventId)
  if ('problem' in batches) return batches
  let queued = 0
  for await (const { events, isLast } of batches) {
    const now = timeOf(installation)
    const range = { first_event_id: events[0]!.id, last_event_id: events.at(-1)!.id }
    const data = { deliveries: events.length, ...range, ...reasonOf(act) }
    const context = recordContext(installation, act)
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
}

/** Older events and deliveries are deleted, and nothing says whether they arrived. */
function retentionOf({ nowMs, config }: Installation): { keptSince: string; kept: string } {
  return {
    keptSince: new Date(nowMs() - config.webhooksKeepDays * DAY_MS).toISOString(),
    kept: `events and deliveries are kept for ${config.webhooksKeepDays} days`,
  }
}

function sinceProblem(installation: Installation, sinceMs: number): Problem | undefined {
  const { keptSince, kept } = retentionOf(installation)
  if (new Date(sinceMs).toISOString() >= keptSince) return undefined
  return { problem: `${kept}: choose a time after ${keptSince}` }
}

async function oneEvent(
  installation: Installation,
  { environment, organizationId }: WebhookOwner,
  eventId: string,
): Promise<Batch[] | Problem> {
  const { keptSince, kept } = retentionOf(installation)
  const event = await installation.stores[environment].webhooks.event(organizationId, eventId)
  if (event === undefined) return { problem: `there is no event ${eventId} in ${environment}`, code: 'event_not_found' }
  if (event.created_at < keptSince) return { problem: `${kept}: ${eventId} was written at ${event.created_at}` }
  return [{ events: [event], isLast: true }]
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
export async function sendTest(
  installation: Installation,
  { environment, organizationId, actor }: WebhookAct,
): Promise<{ event_id: string; endpoints: ReturnType<typeof testedEndpoints> }> {
  const { stores, newId, requestId = newId('req') } = installation
  const endpoints = await stores[environment].webhooks.endpoints(organizationId)
  const context = recordContext({ ...installation, requestId }, { organizationId, actor })
  const { events, auditEntries } = domainEventRows(context, [webhookTestEvent(organizationId, requestId)])
  await commitOrThrow(stores[environment], { organizationId, rows: { events }, auditEntries })
  return { event_id: events[0]!.id, endpoints: testedEndpoints(endpoints) }
}
