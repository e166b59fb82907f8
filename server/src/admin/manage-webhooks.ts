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
import { readEndpointUrl } from '../webhooks/endpoint-url.ts'

/** Every event goes to every enabled endpoint that listens, so their number bounds what one request can set off. */
const ENABLED_PER_ORGANIZATION_MAX = 50
const DESCRIPTION_CHARACTERS_MAX = 255
const REASON_CHARACTERS_MAX = 500
const DAY_MS = 24 * 3_600_000
/** How long a replaced secret goes on signing beside the new one. */
const OVERLAP_MS = DAY_MS
const REDELIVERIES_PER_WRITE = 1_000

interface Problem {
  problem: string
}

/** Whose endpoints, and who does something with them. */
export interface WebhookAct {
  environment: Environment
  organizationId: string
  actor: AdminActor
}

/** An endpoint as it is shown: without its secrets. */
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
  /** Until when the secret before the current one signs as well. */
  previous_secret_until: string | null
}

/** An endpoint with a new secret, which is shown this once. */
export type EndpointWithSecret = ShownEndpoint & { secret: string }

/** Registers an endpoint for some types of events, or for all of them. */
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
    return { problem: `the description has more than ${DESCRIPTION_CHARACTERS_MAX} characters` }
  const types = readEventTypes(eventTypes)
  if (typeof types !== 'string') return types
  const tooMany = await oneTooMany(installation, act)
  if (tooMany) return tooMany

  const now = timeOf(installation)
  const secret = generateWebhookSecret()
  const id = newId('whe')
  const endpoint: WebhookEndpoint = {
    org_id: organizationId,
    id,
    url: url.href,
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

/** The endpoints of an organization, oldest first. */
export async function listEndpoints(
  { stores }: Installation,
  { environment, organizationId }: Omit<WebhookAct, 'actor'>,
): Promise<ShownEndpoint[]> {
  const endpoints = await stores[environment].webhookEndpoints(organizationId)
  return endpoints.map((endpoint) => show(environment, endpoint))
}

/** Gives an endpoint a new secret. For a day both sign, so that receivers can change over without missing anything. */
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
      problem: `two secrets sign for ${id} until ${endpoint.previous_secret_until}: end that first with --end-overlap`,
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
  const changed = await change(installation, act, { next, type: 'webhook_endpoint.secret_rotated', data })
  return 'problem' in changed ? changed : { ...changed, secret }
}

/** Has only the newest secret sign from now on, because every receiver has it or the one before has leaked. */
export async function endOverlap(
  installation: Installation,
  act: WebhookAct,
  id: string,
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  if (endpoint.previous_secret === null) return { problem: `only one secret signs for ${id}` }
  const next = { ...endpoint, previous_secret: null, previous_secret_until: null }
  return change(installation, act, { next, type: 'webhook_endpoint.overlap_ended', data: {} })
}

/** Sends nothing to an endpoint any more. What waits for it is kept, and goes out when it is enabled again. */
export async function disableByOperator(
  installation: Installation,
  act: WebhookAct,
  { id, why }: { id: string; why: string },
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  if (endpoint.state === 'disabled') return { problem: `${id} is disabled already` }
  if (why.length > REASON_CHARACTERS_MAX)
    return { problem: `the reason has more than ${REASON_CHARACTERS_MAX} characters` }
  const { stores, newId } = installation
  const disabling = { actor: act.actor, why, now: timeOf(installation) }
  const done = await disableEndpoint({ store: stores[act.environment], newId }, endpoint, disabling)
  return done ? reload(installation, act, id) : tooLate(id)
}

/** Sends to an endpoint again, what waited for it included. */
export async function enableEndpoint(
  installation: Installation,
  act: WebhookAct,
  id: string,
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  if (endpoint.state === 'enabled') return { problem: `${id} is enabled already` }
  const tooMany = await oneTooMany(installation, act)
  if (tooMany) return tooMany
  const next = { ...endpoint, state: 'enabled', disabled_at: null, disabled_why: null }
  return change(installation, act, { next, type: 'webhook_endpoint.enabled', data: {} })
}

/** The deliveries to an endpoint, those of the newest events first. */
export async function listDeliveries(
  installation: Installation,
  place: Omit<WebhookAct, 'actor'>,
  page: { id: string; state?: string | undefined; beforeEventId?: string | undefined; limit: number },
): Promise<ListedDelivery[] | Problem> {
  const endpoint = await findEndpoint(installation, place, page.id)
  if ('problem' in endpoint) return endpoint
  const { environment, organizationId } = place
  return installation.stores[environment].webhookDeliveries({ organizationId, endpointId: page.id, ...page })
}

/** Every attempt to deliver one event to an endpoint, in order. */
export async function listAttempts(
  installation: Installation,
  place: Omit<WebhookAct, 'actor'>,
  { id, eventId }: { id: string; eventId: string },
): Promise<RowOf<'webhook_attempts'>[] | Problem> {
  const endpoint = await findEndpoint(installation, place, id)
  if ('problem' in endpoint) return endpoint
  const { environment, organizationId } = place
  return installation.stores[environment].webhookAttempts({ organizationId, endpointId: id, eventId })
}

/**
 * Sends one event to an endpoint again; or everything since a moment that never reached it, because it failed for good or
 * because the endpoint was disabled. Returns how many deliveries were queued.
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
  const keptSinceMs = installation.nowMs() - installation.config.webhooksKeepDays * DAY_MS
  // Of what is older, nobody knows any more whether it arrived.
  if ('sinceMs' in what && what.sinceMs < keptSinceMs)
    return {
      problem: `deliveries are kept for ${installation.config.webhooksKeepDays} days: --since goes back to ${new Date(keptSinceMs).toISOString()}`,
    }
  if ('eventId' in what && !(await store.eventExists(act.organizationId, what.eventId)))
    return { problem: `there is no event ${what.eventId} in ${act.environment}` }
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

/** Events that never reached an endpoint, in portions. Ids sort by time, so one made a millisecond earlier marks the start. */
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

async function oneTooMany(
  { stores }: Installation,
  { environment, organizationId }: WebhookAct,
): Promise<Problem | undefined> {
  const endpoints = await stores[environment].webhookEndpoints(organizationId)
  if (endpoints.filter(({ state }) => state === 'enabled').length < ENABLED_PER_ORGANIZATION_MAX) return undefined
  return {
    problem: `an organization has at most ${ENABLED_PER_ORGANIZATION_MAX} enabled endpoints in an environment: disable one first`,
  }
}

function readEventTypes(wanted: readonly string[] | 'all'): string | Problem {
  if (wanted === 'all') return '*'
  const unknown = wanted.find((type) => !EVENT_TYPES.some((known) => known === type))
  if (unknown !== undefined)
    return { problem: `${JSON.stringify(unknown)} is not a type of event; the types are ${EVENT_TYPES.join(', ')}` }
  return wanted.length > 0 ? [...new Set(wanted)].join(' ') : { problem: 'name at least one type of event' }
}

async function change<T extends WebhookEndpointEntryType>(
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
  return lost ? tooLate(next.id) : reload(installation, act, next.id)
}

async function reload(installation: Installation, act: WebhookAct, id: string): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  return 'problem' in endpoint ? endpoint : show(act.environment, endpoint)
}

async function findEndpoint(
  { stores }: Installation,
  { environment, organizationId }: Omit<WebhookAct, 'actor'>,
  id: string,
): Promise<WebhookEndpoint | Problem> {
  const endpoint = await stores[environment].webhookEndpoint(organizationId, id)
  return endpoint ?? { problem: `there is no webhook endpoint ${id} in ${environment}: webhooks list shows them` }
}

function show(environment: Environment, endpoint: WebhookEndpoint): ShownEndpoint {
  const { id, url, description, event_types, state, created_at } = endpoint
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

function tooLate(id: string): Problem {
  return { problem: `somebody else changed ${id} at the same moment: look at it and try again` }
}
