import type { Environment } from '../config.ts'
import type { AuditData } from '../core/audit/audit-data.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import { EVENT_TYPES, type EventType } from '../core/webhooks/event-types.ts'
import { createNewId } from '../ids/new-id.ts'
import { generateWebhookSecret, WebhookSecretBox } from '../security/webhook-secret.ts'
import type { Installation } from '../service/installation.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { type ListedDelivery, queuedDelivery, type WebhookEndpoint } from '../store/queries/webhooks.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { disableEndpoint, endpointEntry, type WebhookEndpointEntryType } from '../webhooks/endpoint-changes.ts'
import { maskUrl, readEndpointUrl } from '../webhooks/endpoint-url.ts'

/** Bounds the deliveries that one request can queue, because every enabled endpoint may listen to its events. */
const ENABLED_PER_ORGANIZATION_MAX = 50
const DESCRIPTION_CHARACTERS_MAX = 255
const REASON_CHARACTERS_MAX = 500
const DAY_MS = 24 * 3_600_000
/** How long a replaced secret keeps signing beside the new one. */
const OVERLAP_MS = DAY_MS
const REDELIVERIES_PER_WRITE = 1_000

interface Problem {
  problem: string
}

/** The environment and the organization whose webhook endpoints are meant. */
export interface WebhookOwner {
  environment: Environment
  organizationId: string
}

/** An act on webhook endpoints. */
export interface WebhookAct extends WebhookOwner {
  actor: AdminActor
}

/** A webhook endpoint without its secrets; of its URL, scheme and host are shown. */
export interface ShownEndpoint {
  id: string
  environment: Environment
  url: string
  description: string
  event_types: readonly EventType[] | 'all'
  state: string
  created_at: string
  disabled_at: string | null
  disabled_why: string | null
  failing_since: string | null
  /** Until when the previous secret signs as well. */
  previous_secret_until: string | null
}

/** A webhook endpoint with its new secret, which cannot be shown again. */
export type EndpointWithSecret = ShownEndpoint & { secret: string }

/** Adds a webhook endpoint for some types of events, or for all of them. */
export async function addEndpoint(
  installation: Installation,
  act: WebhookAct,
  { url: text, description, eventTypes }: { url: string; description: string; eventTypes: readonly string[] | 'all' },
): Promise<EndpointWithSecret | Problem> {
  const { environment, organizationId, actor } = act
  const { config, stores, newId } = installation
  const allowLoopback = environment === 'sandbox' && config.webhooksAllowLoopback
  const url = readEndpointUrl(text, { environment, allowLoopback })
  if ('problem' in url) return url
  if (description.length > DESCRIPTION_CHARACTERS_MAX)
    return { problem: `the description has more than ${DESCRIPTION_CHARACTERS_MAX} characters: shorten it` }
  const types = readEventTypes(eventTypes)
  if (typeof types !== 'string') return types
  const tooMany = await enabledLimitProblem(installation, act)
  if (tooMany) return tooMany

  const now = timeOf(installation)
  const secret = generateWebhookSecret()
  const id = newId('whe')
  const endpoint: WebhookEndpoint = {
    org_id: organizationId,
    id,
    url: secretBox(installation, environment).encryptUrl({ organizationId, endpointId: id }, url.href),
    shown_url: maskUrl(url),
    description,
    event_types: types,
    state: 'enabled',
    secret: secretBox(installation, environment).encrypt({ organizationId, endpointId: id }, secret),
    previous_secret: null,
    previous_secret_until: null,
    created_at: now,
    disabled_at: null,
    disabled_why: null,
    failing_since: null,
    version: 1,
  }
  const entry = endpointEntry(
    endpoint,
    { actor, now, newId },
    { type: 'webhook_endpoint.added', data: { event_types: types } },
  )
  await stores[environment].commit({
    organizationId,
    rows: { webhook_endpoints: [endpoint] },
    auditEntries: [entry],
  })
  return { ...show(environment, endpoint), secret }
}

/** Lists the webhook endpoints of an organization, oldest first. */
export async function listEndpoints(
  { stores }: Installation,
  { environment, organizationId }: WebhookOwner,
): Promise<ShownEndpoint[]> {
  const endpoints = await stores[environment].webhookEndpoints(organizationId)
  return endpoints.map((endpoint) => show(environment, endpoint))
}

/** Gives a webhook endpoint a new secret. Both sign for a day, so that receivers can switch without failed deliveries. */
export async function rotateSecret(
  installation: Installation,
  act: WebhookAct,
  id: string,
): Promise<EndpointWithSecret | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  const now = timeOf(installation)
  if (endpoint.previous_secret_until !== null && endpoint.previous_secret_until > now)
    return {
      problem: `two secrets sign for ${id} until ${endpoint.previous_secret_until}: end the overlap first with --end-overlap`,
    }
  const secret = generateWebhookSecret()
  const next = {
    ...endpoint,
    secret: secretBox(installation, act.environment).encrypt(
      { organizationId: act.organizationId, endpointId: id },
      secret,
    ),
    previous_secret: endpoint.secret,
    previous_secret_until: new Date(installation.nowMs() + OVERLAP_MS).toISOString(),
  }
  const data = { previous_secret_until: next.previous_secret_until }
  const changed = await changeEndpoint(installation, act, { next, type: 'webhook_endpoint.secret_rotated', data })
  return 'problem' in changed ? changed : { ...changed, secret }
}

/** Drops the previous secret before its time, because every receiver has the new one or the previous one leaked. */
export async function endOverlap(
  installation: Installation,
  act: WebhookAct,
  id: string,
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  if (endpoint.previous_secret === null)
    return { problem: `only one secret signs for ${id}: there is no overlap to end` }
  const next = { ...endpoint, previous_secret: null, previous_secret_until: null }
  return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.overlap_ended', data: {} })
}

/** Stops sending to a webhook endpoint. Its pending deliveries are kept and sent when it is enabled again. */
export async function disableByOperator(
  installation: Installation,
  act: WebhookAct,
  { id, why }: { id: string; why: string },
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  if (endpoint.state === 'disabled') return { problem: `${id} is disabled already` }
  if (why.length > REASON_CHARACTERS_MAX)
    return { problem: `the reason has more than ${REASON_CHARACTERS_MAX} characters: shorten it` }
  const { stores, newId } = installation
  const disabling = { actor: act.actor, why, now: timeOf(installation) }
  const done = await disableEndpoint({ store: stores[act.environment], newId }, endpoint, disabling)
  return done ? reload(installation, act, id) : changedConcurrently(id)
}

/** Enables a webhook endpoint again; its pending deliveries are sent too. */
export async function enableEndpoint(
  installation: Installation,
  act: WebhookAct,
  id: string,
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  if (endpoint.state === 'enabled') return { problem: `${id} is enabled already` }
  const tooMany = await enabledLimitProblem(installation, act)
  if (tooMany) return tooMany
  const next = { ...endpoint, state: 'enabled', disabled_at: null, disabled_why: null }
  return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.enabled', data: {} })
}

/** Lists the deliveries to a webhook endpoint, newest events first. */
export async function listDeliveries(
  installation: Installation,
  owner: WebhookOwner,
  page: { id: string; state?: string | undefined; beforeEventId?: string | undefined; limit: number },
): Promise<ListedDelivery[] | Problem> {
  const endpoint = await findEndpoint(installation, owner, page.id)
  if ('problem' in endpoint) return endpoint
  const { environment, organizationId } = owner
  return installation.stores[environment].webhookDeliveries({ organizationId, endpointId: page.id, ...page })
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
  return installation.stores[environment].webhookAttempts({ organizationId, endpointId: id, eventId })
}

/**
 * Queues the delivery of one event to a webhook endpoint again, or of all events since a moment that never reached it,
 * because the delivery failed for good or the endpoint was disabled. Returns the number of deliveries.
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
  const refused = await redeliveryProblem(installation, act, what)
  if (refused) return refused
  let queued = 0
  const batches = 'eventId' in what ? [[what.eventId]] : undelivered(store, endpoint, what.sinceMs)
  for await (const eventIds of batches) {
    const now = timeOf(installation)
    const data = { deliveries: eventIds.length, first_event_id: eventIds[0]!, last_event_id: eventIds.at(-1)! }
    const context = { actor: act.actor, now, newId: installation.newId }
    await store.commit({
      organizationId: act.organizationId,
      queuedDeliveries: eventIds.map((eventId) => queuedDelivery(endpoint, { eventId, dueAt: now })),
      auditEntries: [endpointEntry(endpoint, context, { type: 'webhook_endpoint.redelivery', data })],
    })
    queued += eventIds.length
  }
  return { queued }
}

/** Why events cannot be sent again: older events and deliveries are deleted, and nothing says whether they arrived. */
async function redeliveryProblem(
  { stores, nowMs, config }: Installation,
  { environment, organizationId }: WebhookOwner,
  what: { eventId: string } | { sinceMs: number },
): Promise<Problem | undefined> {
  const keptSince = new Date(nowMs() - config.webhooksKeepDays * DAY_MS).toISOString()
  const kept = `events and deliveries are kept for ${config.webhooksKeepDays} days`
  if ('sinceMs' in what)
    return new Date(what.sinceMs).toISOString() < keptSince
      ? { problem: `${kept}: --since goes back to ${keptSince}` }
      : undefined
  const writtenAt = await stores[environment].eventTime(organizationId, what.eventId)
  if (writtenAt === undefined) return { problem: `there is no event ${what.eventId} in ${environment}` }
  return writtenAt < keptSince ? { problem: `${kept}: ${what.eventId} was written at ${writtenAt}` } : undefined
}

/** Events that never reached a webhook endpoint, in batches. Ids sort by time: an id of a millisecond earlier is the start. */
async function* undelivered(
  store: EnvironmentStore,
  { org_id: organizationId, id: endpointId }: WebhookEndpoint,
  sinceMs: number,
): AsyncGenerator<string[]> {
  let afterEventId: string = createNewId(() => sinceMs - 1)('evt')
  while (true) {
    const limit = REDELIVERIES_PER_WRITE
    const eventIds = await store.undeliveredEvents({ organizationId, endpointId, afterEventId, limit })
    if (eventIds.length > 0) yield eventIds
    if (eventIds.length < limit) return
    afterEventId = eventIds.at(-1)!
  }
}

async function enabledLimitProblem(
  { stores }: Installation,
  { environment, organizationId }: WebhookOwner,
): Promise<Problem | undefined> {
  const endpoints = await stores[environment].webhookEndpoints(organizationId)
  if (endpoints.filter(({ state }) => state === 'enabled').length < ENABLED_PER_ORGANIZATION_MAX) return undefined
  return {
    problem: `an organization has at most ${ENABLED_PER_ORGANIZATION_MAX} enabled webhook endpoints in an environment: disable one first`,
  }
}

function readEventTypes(wanted: readonly string[] | 'all'): string | Problem {
  if (wanted === 'all') return '*'
  const unknown = wanted.find((type) => !EVENT_TYPES.some((known) => known === type))
  if (unknown !== undefined)
    return { problem: `${JSON.stringify(unknown)} is not a type of event: the types are ${EVENT_TYPES.join(', ')}` }
  return wanted.length > 0
    ? [...new Set(wanted)].join(' ')
    : { problem: 'no type of event is named: name at least one' }
}

async function changeEndpoint<T extends WebhookEndpointEntryType>(
  installation: Installation,
  act: WebhookAct,
  { next, type, data }: { next: WebhookEndpoint; type: T; data: Omit<AuditData<T>, 'host'> },
): Promise<ShownEndpoint | Problem> {
  const { stores, newId } = installation
  const context = { actor: act.actor, now: timeOf(installation), newId }
  const { lost } = await stores[act.environment].commit({
    organizationId: act.organizationId,
    changedEndpoints: [{ ...next, version: next.version + 1 }],
    auditEntries: [endpointEntry(next, context, { type, data })],
  })
  return lost ? changedConcurrently(next.id) : reload(installation, act, next.id)
}

async function reload(installation: Installation, act: WebhookAct, id: string): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  return 'problem' in endpoint ? endpoint : show(act.environment, endpoint)
}

async function findEndpoint(
  { stores }: Installation,
  { environment, organizationId }: WebhookOwner,
  id: string,
): Promise<WebhookEndpoint | Problem> {
  const endpoint = await stores[environment].webhookEndpoint(organizationId, id)
  return endpoint ?? { problem: `there is no webhook endpoint ${id} in ${environment}: webhooks list shows them` }
}

function show(environment: Environment, endpoint: WebhookEndpoint): ShownEndpoint {
  const { id, shown_url: url, description, event_types, state, created_at } = endpoint
  const { disabled_at, disabled_why, failing_since, previous_secret_until } = endpoint
  const types = event_types === '*' ? 'all' : (event_types.split(' ') as EventType[])
  return {
    ...{ id, environment, url, description, event_types: types, state, created_at },
    ...{ disabled_at, disabled_why, failing_since, previous_secret_until },
  }
}

function secretBox({ masterKey }: Installation, environment: Environment): WebhookSecretBox {
  return new WebhookSecretBox(masterKey.derive(`webhook secrets ${environment}`))
}

function timeOf({ nowMs }: Installation): string {
  return new Date(nowMs()).toISOString()
}

/** The other writer is an operator, or the dispatcher, which disables a webhook endpoint that keeps failing. */
function changedConcurrently(id: string): Problem {
  return {
    problem: `another operator or the dispatcher changed ${id} at the same moment: check webhooks list and try again`,
  }
}
