import type { Environment } from '../config.ts'
import type { AuditData } from '../core/audit/audit-data.ts'
import { EVENT_TYPES, type EventType } from '../core/webhooks/event-types.ts'
import type { Installation } from '../installation/installation.ts'
import { generateWebhookSecret, WebhookSecretBox } from '../security/webhook-secret.ts'
import type { WebhookEndpoint } from '../store/environment/webhooks.ts'
import { commitOrThrow, commitUnlessForestalled } from '../store/write-path/commit-or-throw.ts'
import { disableEndpoint, endpointEntry, type WebhookEndpointEntryType } from '../webhooks/endpoint-changes.ts'
import { maskUrl, readEndpointUrl } from '../webhooks/endpoint-url.ts'
import { actorOf, contextOf, type EnvironmentAct, permitted, type Reasoned, reasonOf } from './act.ts'
import { conflict, invalid, notFound, type Problem } from './problem.ts'

/** Bounds the deliveries that one request can queue, because every enabled endpoint may listen to its events. */
export const ENABLED_PER_ORGANIZATION_MAX = 50
const DESCRIPTION_CHARACTERS_MAX = 255
const DISABLED_WHY_CHARACTERS_MAX = 500
const DAY_MS = 24 * 3_600_000
/** How long a replaced secret keeps signing beside the new one. */
const OVERLAP_MS = DAY_MS
const ENDED_PER_WRITE = 1_000

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
export const addEndpoint = permitted(
  'manage webhooks',
  async (
    installation,
    act: EnvironmentAct,
    { url: text, description, eventTypes }: EndpointFields,
  ): Promise<EndpointWithSecret> => {
    const { environment, organizationId } = act
    const { stores, newId } = installation
    const url = readUrl(installation, environment, text)
    requireShort(description)
    const types = readEventTypes(eventTypes)
    await requireRoom(installation, act)

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
    const entry = endpointEntry(endpoint, contextOf(installation, act), {
      type: 'webhook_endpoint.added',
      data: { event_types: types },
    })
    await commitOrThrow(stores[environment], {
      organizationId,
      rows: { webhook_endpoints: [endpoint] },
      auditEntries: [entry],
    })
    return { ...show(installation, environment, endpoint), secret }
  },
)

/** Lists the webhook endpoints of an organization, oldest first. */
export const listEndpoints = permitted(
  'see the console',
  async (installation, { environment, organizationId }: EnvironmentAct): Promise<ShownEndpoint[]> => {
    const endpoints = await installation.stores[environment].webhooks.endpoints(organizationId)
    return endpoints.map((endpoint) => show(installation, environment, endpoint))
  },
)

/** Reads one webhook endpoint of an organization. */
export const showEndpoint = permitted(
  'see the console',
  async (installation, act: EnvironmentAct, id: string): Promise<ShownEndpoint> =>
    show(installation, act.environment, await findEndpoint(installation, act, id)),
)

/** Changes the URL, the description or the types of events of a webhook endpoint; pending deliveries go to the new URL. */
export const editEndpoint = permitted(
  'manage webhooks',
  async (
    installation,
    act: EnvironmentAct,
    { id, url: text, description, eventTypes }: { id: string } & Partial<EndpointFields>,
  ): Promise<ShownEndpoint> => {
    const endpoint = await findEndpoint(installation, act, id)
    const { environment, organizationId } = act
    const url = text === undefined ? undefined : readUrl(installation, environment, text)
    requireShort(description ?? '')
    const types = eventTypes === undefined ? endpoint.event_types : readEventTypes(eventTypes)
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
    if (changed.length === 0) throw conflict('endpoint_unchanged', `Nothing about ${id} would change.`)
    const data = {
      changed,
      ...(isNewUrl && { previous_host: new URL(endpoint.shown_url).host }),
      ...(types !== endpoint.event_types && { event_types: { before: endpoint.event_types, after: types } }),
      ...reasonOf(act),
    }
    return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.edited', data })
  },
)

/**
 * Gives a webhook endpoint a new secret. Both sign for a day, so that receivers can switch without failed deliveries;
 * without an overlap the previous one, which may have leaked, ends at once.
 */
export const rotateSecret = permitted(
  'manage webhooks',
  async (
    installation,
    act: EnvironmentAct,
    { id, withOverlap = true }: { id: string; withOverlap?: boolean },
  ): Promise<EndpointWithSecret> => {
    const endpoint = await findEndpoint(installation, act, id)
    const now = timeOf(installation)
    if (withOverlap && endpoint.previous_secret_until !== null && endpoint.previous_secret_until > now)
      throw conflict('secrets_overlap', `Two secrets sign for ${id} until ${endpoint.previous_secret_until}.`)
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
    return { ...changed, secret }
  },
)

/** Drops the previous secret before its time, because every receiver has the new one or the previous one leaked. */
export const endOverlap = permitted(
  'manage webhooks',
  async (installation, act: EnvironmentAct, id: string): Promise<ShownEndpoint> => {
    const endpoint = await findEndpoint(installation, act, id)
    if (endpoint.previous_secret === null)
      throw conflict('no_overlap', `Only one secret signs for ${id}, so there is no overlap to end.`)
    const next = { ...endpoint, previous_secret: null, previous_secret_until: null }
    return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.overlap_ended', data: reasonOf(act) })
  },
)

/** Stops sending to a webhook endpoint. Its pending deliveries are kept and sent when it is enabled again. */
export const disableByOperator = permitted(
  'manage webhooks',
  async (installation, act: Reasoned<EnvironmentAct>, id: string): Promise<ShownEndpoint> => {
    const endpoint = await findEndpoint(installation, act, id)
    if (endpoint.state === 'disabled') throw conflict('endpoint_disabled_already', `${id} is disabled already.`)
    const { stores, newId, requestId } = installation
    const disabling = { actor: actorOf(act), why: act.reason, now: timeOf(installation) }
    const isDone = await disableEndpoint({ store: stores[act.environment], newId, requestId }, endpoint, disabling)
    if (!isDone) throw changedConcurrently(id)
    return showEndpoint(installation, act, id)
  },
  { reasonCharactersMax: DISABLED_WHY_CHARACTERS_MAX },
)

/** Enables a webhook endpoint again; its pending deliveries are sent too. */
export const enableEndpoint = permitted(
  'manage webhooks',
  async (installation, act: EnvironmentAct, id: string): Promise<ShownEndpoint> => {
    const endpoint = await findEndpoint(installation, act, id)
    if (endpoint.state === 'enabled') throw conflict('endpoint_enabled_already', `${id} is enabled already.`)
    await requireRoom(installation, act)
    const next = { ...endpoint, state: 'enabled', disabled_at: null, disabled_why: null }
    return changeEndpoint(installation, act, { next, type: 'webhook_endpoint.enabled', data: reasonOf(act) })
  },
)

/**
 * Removes a webhook endpoint for good: its URL and secrets are erased, and what waits for it is not sent. Its deliveries
 * are listed until their retention ends, then upkeep deletes the row.
 */
export const removeEndpoint = permitted(
  'manage webhooks',
  async (installation, act: EnvironmentAct, id: string): Promise<{ id: string; removed: true }> => {
    const endpoint = await findEndpoint(installation, act, id)
    const store = installation.stores[act.environment]
    const now = timeOf(installation)
    const erased = { url: '', secret: '', previous_secret: null, previous_secret_until: null }
    const state = { state: 'removed', removed_at: now, disabled_at: null, disabled_why: null }
    const entry = { type: 'webhook_endpoint.removed', data: reasonOf(act) } as const
    const isRemoved = await commitUnlessForestalled(store, {
      organizationId: act.organizationId,
      changedEndpoints: [{ ...endpoint, ...erased, ...state, version: endpoint.version + 1 }],
      auditEntries: [endpointEntry(endpoint, contextOf(installation, act), entry)],
    })
    if (!isRemoved) throw changedConcurrently(id)
    // Upkeep goes on where a crash ends this.
    while ((await store.deliveries.endRemoved(now, ENDED_PER_WRITE)) === ENDED_PER_WRITE);
    return { id, removed: true }
  },
)

/** Refuses one more enabled webhook endpoint than an organization may have. */
async function requireRoom({ stores }: Installation, { environment, organizationId }: EnvironmentAct): Promise<void> {
  const endpoints = await stores[environment].webhooks.endpoints(organizationId)
  if (endpoints.filter(({ state }) => state === 'enabled').length < ENABLED_PER_ORGANIZATION_MAX) return
  throw conflict(
    'endpoints_max',
    `An organization has at most ${ENABLED_PER_ORGANIZATION_MAX} enabled webhook endpoints in an environment.`,
  )
}

function readEventTypes(wanted: readonly string[] | 'all'): string {
  if (wanted === 'all') return '*'
  const unknown = wanted.find((type) => !EVENT_TYPES.some((known) => known === type))
  if (unknown !== undefined)
    throw invalid(
      'event_type_unknown',
      `${JSON.stringify(unknown)} is not a type of event. The types are ${EVENT_TYPES.join(', ')}.`,
    )
  if (wanted.length === 0) throw invalid('event_types_missing', 'No type of event is named.')
  return [...new Set(wanted)].join(' ')
}

function readUrl({ config }: Installation, environment: Environment, text: string): URL {
  const allowLoopback = environment === 'sandbox' && config.webhooksAllowLoopback
  const read = readEndpointUrl(text, { environment, allowLoopback })
  if ('fault' in read) throw invalid('url_refused', `The URL ${read.fault}.`)
  return read.url
}

function requireShort(description: string): void {
  if (description.length > DESCRIPTION_CHARACTERS_MAX)
    throw invalid('description_too_long', `The description has more than ${DESCRIPTION_CHARACTERS_MAX} characters.`)
}

async function changeEndpoint<T extends WebhookEndpointEntryType>(
  installation: Installation,
  act: EnvironmentAct,
  { next, type, data }: { next: WebhookEndpoint; type: T; data: Omit<AuditData<T>, 'host'> },
): Promise<ShownEndpoint> {
  const isChanged = await commitUnlessForestalled(installation.stores[act.environment], {
    organizationId: act.organizationId,
    changedEndpoints: [{ ...next, version: next.version + 1 }],
    auditEntries: [endpointEntry(next, contextOf(installation, act), { type, data })],
  })
  if (!isChanged) throw changedConcurrently(next.id)
  return showEndpoint(installation, act, next.id)
}

/** Finds a webhook endpoint of an organization. */
export async function findEndpoint(
  { stores }: Installation,
  { environment, organizationId }: EnvironmentAct,
  id: string,
): Promise<WebhookEndpoint> {
  const endpoint = await stores[environment].webhooks.endpoint(organizationId, id)
  if (!endpoint) throw notFound('endpoint_not_found', `There is no webhook endpoint ${id} in ${environment}.`)
  return endpoint
}

function show(installation: Installation, environment: Environment, endpoint: WebhookEndpoint): ShownEndpoint {
  const { org_id: organizationId, secret, secret_since } = endpoint
  const { id, shown_url: url, description, event_types, state, created_at } = endpoint
  const { disabled_at, disabled_why, failing_since, previous_secret_until } = endpoint
  const types = event_types === '*' ? 'all' : (event_types.split(' ') as EventType[])
  return {
    id,
    environment,
    url,
    description,
    event_types: types,
    state,
    created_at,
    disabled_at,
    disabled_why,
    failing_since,
    secret_since,
    previous_secret_until,
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
  return conflict('changed_meanwhile', `Another operator or the dispatcher changed ${id} at the same moment.`)
}
