import type { Environment } from '../config.ts'
import type { AuditData } from '../core/audit/audit-data.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import { EVENT_TYPES, type EventType } from '../core/webhooks/event-types.ts'
import type { Installation } from '../installation/installation.ts'
import { generateWebhookSecret, WebhookSecretBox } from '../security/webhook-secret.ts'
import type { WebhookEndpoint } from '../store/environment/webhooks.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { disableEndpoint, endpointEntry, type WebhookEndpointEntryType } from '../webhooks/endpoint-changes.ts'
import { maskUrl, readEndpointUrl } from '../webhooks/endpoint-url.ts'
import { recordContext } from './record-context.ts'

/** Bounds the deliveries that one request can queue, because every enabled endpoint may listen to its events. */
export const ENABLED_PER_ORGANIZATION_MAX = 50
const DESCRIPTION_CHARACTERS_MAX = 255
const REASON_CHARACTERS_MAX = 500
const DAY_MS = 24 * 3_600_000
/** How long a replaced secret keeps signing beside the new one. */
const OVERLAP_MS = DAY_MS
const ENDED_PER_WRITE = 1_000

/** Why nothing was changed, and what to do about it. */
export interface Problem {
  problem: string
  /** Set if what the act names is missing, or belongs to another organization. */
  code?: 'endpoint_not_found' | 'event_not_found'
}

/** The environment and the organization whose webhook endpoints are meant. */
export interface WebhookOwner {
  environment: Environment
  organizationId: string
}

/** An act on webhook endpoints. */
export interface WebhookAct extends WebhookOwner {
  actor: AdminActor
  /** Why, for the audit log. */
  reason?: string | undefined
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
  /** The end of the signing secret, by which people tell two secrets apart. */
  secret_last_four: string
  secret_since: string
  /** Until when the previous secret signs as well. */
  previous_secret_until: string | null
}

/** A webhook endpoint with its new secret, which cannot be shown again. */
export type EndpointWithSecret = ShownEndpoint & { secret: string }

/** What an operator says about a webhook endpoint. */
export interface EndpointFields {
  url: string
  description: string
  eventTypes: readonly string[] | 'all'
}

/** Adds a webhook endpoint for some types of events, or for all of them. */
export async function addEndpoint(
  installation: Installation,
  act: WebhookAct,
  { url: text, description, eventTypes }: EndpointFields,
): Promise<EndpointWithSecret | Problem> {
  const { environment, organizationId, actor } = act
  const { stores, newId } = installation
  const url = readUrl(installation, environment, text)
  if ('problem' in url) return url
  const tooLong = descriptionProblem(description)
  if (tooLong) return tooLong
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
    secret_since: now,
    previous_secret: null,
    previous_secret_until: null,
    created_at: now,
    disabled_at: null,
    disabled_why: null,
    removed_at: null,
    failing_since: null,
    version: 1,
  }
  const entry = endpointEntry(endpoint, recordContext(installation, { organizationId, actor }), {
    type: 'webhook_endpoint.added',
    data: { event_types: types },
  })
  await commitOrThrow(stores[environment], {
    organizationId,
    rows: { webhook_endpoints: [endpoint] },
    auditEntries: [entry],
  })
  return { ...show(installation, environment, endpoint), secret }
}

/** Lists the webhook endpoints of an organization, oldest first. */
export async function listEndpoints(
  installation: Installation,
  { environment, organizationId }: WebhookOwner,
): Promise<ShownEndpoint[]> {
  const endpoints = await installation.stores[environment].webhooks.endpoints(organizationId)
  return endpoints.map((endpoint) => show(installation, environment, endpoint))
}

/** Reads one webhook endpoint of an organization. */
export async function showEndpoint(
  installation: Installation,
  owner: WebhookOwner,
  id: string,
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, owner, id)
  return 'problem' in endpoint ? endpoint : show(installation, owner.environment, endpoint)
}

/** Changes the URL, the description or the types of events of a webhook endpoint; pending deliveries go to the new URL. */
export async function editEndpoint(
  installation: Installation,
  act: WebhookAct,
  { id, url: text, description, eventTypes }: { id: string } & Partial<EndpointFields>,
): Promise<ShownEndpoint | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  const { environment, organizationId } = act
  const url = text === undefined ? undefined : readUrl(installation, environment, text)
  if (url && 'problem' in url) return url
  const tooLong = descriptionProblem(description ?? '')
  if (tooLong) return tooLong
  const types = eventTypes === undefined ? endpoint.event_types : readEventTypes(eventTypes)
  if (typeof types !== 'string') return types
  const box = secretBox(installation, environment)
  const owner = { organizationId, endpointId: id }
  const isNewUrl = url !== undefined && box.decryptUrl(owner, endpoint.url) !== url.href
  const next: WebhookEndpoint = {
    ...endpoint,
    ...(isNewUrl && { url: box.encryptUrl(owner, url.href), shown_url: maskUrl(url) }),
    description: description ?? endpoint.description,
    event_types: types,
  }
  const changed = (['url', 'description', 'event_types'] as const).filter((name) => next[name] !== endpoint[name])
  if (changed.length === 0) return { problem: `nothing about ${id} would change: name a new URL, types or description` }
  const data = {
    changed,
    ...(isNewUrl && { previous_host: new URL(endpoint.shown_url).host }),
    ...(types !== endpoint.event_types && { event_types: { before: endpoint.event_types, after: types } }),
    ...reasonOf(act),
  }
  return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.edited', data })
}

/**
 * Gives a webhook endpoint a new secret. Both sign for a day, so that receivers can switch without failed deliveries;
 * without an overlap the previous one, which may have leaked, ends at once.
 */
export async function rotateSecret(
  installation: Installation,
  act: WebhookAct,
  id: string,
  { withOverlap = true }: { withOverlap?: boolean } = {},
): Promise<EndpointWithSecret | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  const now = timeOf(installation)
  if (withOverlap && endpoint.previous_secret_until !== null && endpoint.previous_secret_until > now)
    return {
      problem: `two secrets sign for ${id} until ${endpoint.previous_secret_until}: end the overlap first`,
    }
  const secret = generateWebhookSecret()
  const next = {
    ...endpoint,
    secret: secretBox(installation, act.environment).encrypt(
      { organizationId: act.organizationId, endpointId: id },
      secret,
    ),
    secret_since: now,
    previous_secret: withOverlap ? endpoint.secret : null,
    previous_secret_until: withOverlap ? new Date(installation.nowMs() + OVERLAP_MS).toISOString() : null,
  }
  const data = { previous_secret_until: next.previous_secret_until, ...reasonOf(act) }
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
  return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.overlap_ended', data: reasonOf(act) })
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
  const { stores, newId, requestId } = installation
  const disabling = { actor: act.actor, why, now: timeOf(installation) }
  const done = await disableEndpoint({ store: stores[act.environment], newId, requestId }, endpoint, disabling)
  return done ? showEndpoint(installation, act, id) : changedConcurrently(id)
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
  return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.enabled', data: reasonOf(act) })
}

/**
 * Removes a webhook endpoint for good: its URL and secrets are erased, and what waits for it is not sent. Its deliveries
 * are listed until their retention ends, then upkeep deletes the row.
 */
export async function removeEndpoint(
  installation: Installation,
  act: WebhookAct,
  id: string,
): Promise<{ id: string; removed: true } | Problem> {
  const endpoint = await findEndpoint(installation, act, id)
  if ('problem' in endpoint) return endpoint
  const store = installation.stores[act.environment]
  const now = timeOf(installation)
  const erased = { url: '', secret: '', previous_secret: null, previous_secret_until: null }
  const state = { state: 'removed', removed_at: now, disabled_at: null, disabled_why: null }
  const context = recordContext(installation, act)
  const { lost } = await store.commit({
    organizationId: act.organizationId,
    changedEndpoints: [{ ...endpoint, ...erased, ...state, version: endpoint.version + 1 }],
    auditEntries: [endpointEntry(endpoint, context, { type: 'webhook_endpoint.removed', data: reasonOf(act) })],
  })
  if (lost) return changedConcurrently(id)
  // Upkeep goes on where a crash ends this.
  while ((await store.deliveries.endRemoved(now, ENDED_PER_WRITE)) === ENDED_PER_WRITE);
  return { id, removed: true }
}

async function enabledLimitProblem(
  { stores }: Installation,
  { environment, organizationId }: WebhookOwner,
): Promise<Problem | undefined> {
  const endpoints = await stores[environment].webhooks.endpoints(organizationId)
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

function readUrl({ config }: Installation, environment: Environment, text: string): URL | Problem {
  const allowLoopback = environment === 'sandbox' && config.webhooksAllowLoopback
  return readEndpointUrl(text, { environment, allowLoopback })
}

function descriptionProblem(description: string): Problem | undefined {
  if (description.length <= DESCRIPTION_CHARACTERS_MAX) return undefined
  return { problem: `the description has more than ${DESCRIPTION_CHARACTERS_MAX} characters: shorten it` }
}

/** The reason of an act, as a member of its audit entry. */
export function reasonOf({ reason }: WebhookAct): { reason?: string } {
  return reason ? { reason } : {}
}

async function changeEndpoint<T extends WebhookEndpointEntryType>(
  installation: Installation,
  act: WebhookAct,
  { next, type, data }: { next: WebhookEndpoint; type: T; data: Omit<AuditData<T>, 'host'> },
): Promise<ShownEndpoint | Problem> {
  const context = recordContext(installation, act)
  const { lost } = await installation.stores[act.environment].commit({
    organizationId: act.organizationId,
    changedEndpoints: [{ ...next, version: next.version + 1 }],
    auditEntries: [endpointEntry(next, context, { type, data })],
  })
  return lost ? changedConcurrently(next.id) : showEndpoint(installation, act, next.id)
}

/** Finds a webhook endpoint of an organization. */
export async function findEndpoint(
  { stores }: Installation,
  { environment, organizationId }: WebhookOwner,
  id: string,
): Promise<WebhookEndpoint | Problem> {
  const endpoint = await stores[environment].webhooks.endpoint(organizationId, id)
  if (endpoint) return endpoint
  const problem = `there is no webhook endpoint ${id} in ${environment}: webhooks list shows them`
  return { problem, code: 'endpoint_not_found' }
}

function show(installation: Installation, environment: Environment, endpoint: WebhookEndpoint): ShownEndpoint {
  const { org_id: organizationId, secret, secret_since } = endpoint
  const { id, shown_url: url, description, event_types, state, created_at } = endpoint
  const { disabled_at, disabled_why, failing_since, previous_secret_until } = endpoint
  const types = event_types === '*' ? 'all' : (event_types.split(' ') as EventType[])
  return {
    ...{ id, environment, url, description, event_types: types, state, created_at },
    ...{ disabled_at, disabled_why, failing_since, secret_since, previous_secret_until },
    secret_last_four: secretBox(installation, environment).lastFour({ organizationId, endpointId: id }, secret),
  }
}

function secretBox({ masterKey }: Installation, environment: Environment): WebhookSecretBox {
  return new WebhookSecretBox([masterKey.derive(`webhook secrets ${environment}`)])
}

/** The time of an act, ISO 8601. */
export function timeOf({ nowMs }: Installation): string {
  return new Date(nowMs()).toISOString()
}

/** The other writer is an operator, or the dispatcher, which disables a webhook endpoint that keeps failing. */
function changedConcurrently(id: string): Problem {
  return {
    problem: `another operator or the dispatcher changed ${id} at the same moment: check webhooks list and try again`,
  }
}
