import {
  addEndpoint,
  disableByOperator,
  type EndpointWithSecret,
  enableEndpoint,
  endOverlap,
  listAttempts,
  listDeliveries,
  listEndpoints,
  redeliver,
  rotateSecret,
  type ShownEndpoint,
  type WebhookAct,
} from '../admin/manage-webhooks.ts'
import { EVENT_TYPES } from '../core/webhooks/event-types.ts'
import type { Installation } from '../service/installation.ts'
import type { ListedDelivery } from '../store/queries/webhooks.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { environmentOption, organizationOption, readPlace } from './acting-operator.ts'
import { cliActor } from './cli-actor.ts'
import { type CommandInput, defineCommand, isProblem, type Problem, renderTable } from './command.ts'

const placeOptions = { org: organizationOption, environment: environmentOption } as const
const PLACE = '[--org <org>] [--environment sandbox|production]'
const DELIVERY_STATES = ['pending', 'delivered', 'failed']
const DELIVERIES_SHOWN_MAX = 1_000

export const webhooksAdd = defineCommand<EndpointWithSecret>({
  name: 'webhooks add',
  summary: 'Register a webhook endpoint; its signing secret is shown once',
  usage: `webhooks add <url> [--events a,b] [--description <text>] ${PLACE}`,
  arguments: ['url'],
  options: {
    ...placeOptions,
    events: { type: 'string', description: `all (the default), or some of: ${EVENT_TYPES.join(', ')}` },
    description: { type: 'string', description: 'what it is for' },
  },
  async run(installation, { options, positionals }) {
    const act = await readWebhookAct(installation, options)
    if (isProblem(act)) return act
    return addEndpoint(installation, act, {
      url: positionals[0]!,
      description: String(options.description ?? ''),
      eventTypes: readEvents(options.events),
    })
  },
  render: renderSecret,
})

export const webhooksList = defineCommand<ShownEndpoint[]>({
  name: 'webhooks list',
  summary: 'List webhook endpoints and how they are doing',
  usage: `webhooks list ${PLACE}`,
  options: placeOptions,
  async run(installation, { options }) {
    const place = await readPlace(installation, options)
    return isProblem(place) ? place : listEndpoints(installation, place)
  },
  render: (endpoints) =>
    renderTable(
      ['ID', 'URL', 'STATE', 'EVENTS', 'DESCRIPTION'],
      endpoints.map((endpoint) => [
        endpoint.id,
        endpoint.url,
        describeState(endpoint),
        endpoint.event_types === 'all' ? 'all' : endpoint.event_types.join(','),
        endpoint.description,
      ]),
    ),
})

export const webhooksRotate = defineCommand<ShownEndpoint & { secret?: string }>({
  name: 'webhooks rotate',
  summary: 'Replace the signing secret of an endpoint; both sign for 24 hours',
  usage: `webhooks rotate <endpoint id> [--end-overlap] ${PLACE}`,
  arguments: ['endpoint id'],
  options: {
    ...placeOptions,
    'end-overlap': { type: 'boolean', description: 'make no new secret, but have the one before end now' },
  },
  async run(installation, { options, positionals }) {
    const act = await readWebhookAct(installation, options)
    if (isProblem(act)) return act
    const turn = options['end-overlap'] === true ? endOverlap : rotateSecret
    return turn(installation, act, positionals[0]!)
  },
  render: ({ secret, ...endpoint }) =>
    secret === undefined
      ? `Only the newest secret signs for ${endpoint.id} now.`
      : `${renderSecret({ ...endpoint, secret })}\nThe one before signs as well until ${endpoint.previous_secret_until}.`,
})

export const webhooksDisable = defineCommand<ShownEndpoint>({
  name: 'webhooks disable',
  summary: 'Send nothing to an endpoint any more; what waits for it is kept',
  usage: `webhooks disable <endpoint id> [--reason <text>] ${PLACE}`,
  arguments: ['endpoint id'],
  options: { ...placeOptions, reason: { type: 'string', description: 'why; it goes on record' } },
  async run(installation, { options, positionals }) {
    const act = await readWebhookAct(installation, options)
    if (isProblem(act)) return act
    const why = String(options.reason ?? 'disabled by an operator')
    return disableByOperator(installation, act, { id: positionals[0]!, why })
  },
  render: ({ id }) => `Disabled ${id}. Events from now on do not wait for it; webhooks redeliver --since brings them.`,
})

export const webhooksEnable = defineCommand<ShownEndpoint>({
  name: 'webhooks enable',
  summary: 'Send to an endpoint again, what waited for it included',
  usage: `webhooks enable <endpoint id> ${PLACE}`,
  arguments: ['endpoint id'],
  options: placeOptions,
  async run(installation, { options, positionals }) {
    const act = await readWebhookAct(installation, options)
    return isProblem(act) ? act : enableEndpoint(installation, act, positionals[0]!)
  },
  render: ({ id }) => `Enabled ${id}.`,
})

type Deliveries = { deliveries: ListedDelivery[] } | { attempts: RowOf<'webhook_attempts'>[] }

export const webhooksDeliveries = defineCommand<Deliveries>({
  name: 'webhooks deliveries',
  summary: 'Show what went to an endpoint, or every attempt for one event',
  usage: `webhooks deliveries <endpoint id> [--state pending|delivered|failed] [--limit <n>] [--event <event id>] ${PLACE}`,
  arguments: ['endpoint id'],
  options: {
    ...placeOptions,
    state: { type: 'string', description: `only those that are ${DELIVERY_STATES.join(', ')}` },
    limit: { type: 'string', description: `how many, newest first; 20 by default, ${DELIVERIES_SHOWN_MAX} at most` },
    event: { type: 'string', description: 'show every attempt to deliver this event' },
  },
  async run(installation, { options, positionals }) {
    const place = await readPlace(installation, options)
    if (isProblem(place)) return place
    const id = positionals[0]!
    if (options.event !== undefined) {
      const attempts = await listAttempts(installation, place, { id, eventId: String(options.event) })
      return isProblem(attempts) ? attempts : { attempts }
    }
    const limit = Number(options.limit ?? 20)
    if (!Number.isInteger(limit) || limit < 1 || limit > DELIVERIES_SHOWN_MAX)
      return { problem: `--limit must be a whole number from 1 to ${DELIVERIES_SHOWN_MAX}` }
    const state = options.state as string | undefined
    if (state !== undefined && !DELIVERY_STATES.includes(state))
      return { problem: `--state must be one of ${DELIVERY_STATES.join(', ')}` }
    const deliveries = await listDeliveries(installation, place, { id, state, limit })
    return isProblem(deliveries) ? deliveries : { deliveries }
  },
  render: (result) => ('deliveries' in result ? renderDeliveries(result.deliveries) : renderAttempts(result.attempts)),
})

export const webhooksRedeliver = defineCommand<{ queued: number }>({
  name: 'webhooks redeliver',
  summary: 'Send an event to an endpoint again, or everything that never reached it',
  usage: `webhooks redeliver <endpoint id> --event <event id> | --since <time> ${PLACE}`,
  arguments: ['endpoint id'],
  options: {
    ...placeOptions,
    event: { type: 'string', description: 'send this event again' },
    since: {
      type: 'string',
      description:
        'send every event since this ISO 8601 time that never reached the endpoint, as far back as deliveries are kept',
    },
  },
  async run(installation, { options, positionals }) {
    const act = await readWebhookAct(installation, options)
    if (isProblem(act)) return act
    const what = readWhat(options)
    return isProblem(what) ? what : redeliver(installation, act, { id: positionals[0]!, what })
  },
  render: ({ queued }) => `Queued ${queued} ${queued === 1 ? 'delivery' : 'deliveries'}.`,
})

async function readWebhookAct(
  installation: Installation,
  options: CommandInput['options'],
): Promise<WebhookAct | Problem> {
  const place = await readPlace(installation, options)
  return isProblem(place) ? place : { ...place, actor: cliActor() }
}

function readEvents(text: CommandInput['options'][string]): string[] | 'all' {
  if (text === undefined || text === 'all') return 'all'
  return String(text)
    .split(',')
    .map((type) => type.trim())
}

function readWhat({ event, since }: CommandInput['options']): { eventId: string } | { sinceMs: number } | Problem {
  if ((event === undefined) === (since === undefined)) return { problem: 'say what with --event or with --since' }
  if (event !== undefined) return { eventId: String(event) }
  const sinceMs = Date.parse(String(since))
  return sinceMs > 0 ? { sinceMs } : { problem: '--since must be a time such as 2026-11-15T09:30:00Z' }
}

function describeState({ state, disabled_why, failing_since }: ShownEndpoint): string {
  if (state === 'disabled') return `disabled: ${disabled_why}`
  return failing_since ? `failing since ${failing_since}` : state
}

function renderSecret({ id, secret, environment }: EndpointWithSecret): string {
  return `${secret}\n\nThis is the only time the secret is shown. It signs what goes to ${id} in ${environment}.`
}

function renderDeliveries(deliveries: readonly ListedDelivery[]): string {
  return renderTable(
    ['EVENT', 'TYPE', 'STATE', 'ATTEMPTS', 'LAST ANSWER', 'NEXT ATTEMPT'],
    deliveries.map((delivery) => [
      delivery.event_id,
      delivery.event_type,
      delivery.state,
      String(delivery.attempts),
      printable(String(delivery.last_status ?? delivery.last_error ?? '–')),
      delivery.state === 'pending' ? delivery.due_at : '–',
    ]),
  )
}

function renderAttempts(attempts: readonly RowOf<'webhook_attempts'>[]): string {
  return renderTable(
    ['ATTEMPT', 'STARTED', 'TOOK', 'ANSWER', 'RESPONSE'],
    attempts.map(({ number, started_at, duration_ms, status, error, response }) => [
      String(number),
      started_at,
      `${duration_ms} ms`,
      printable(String(status ?? error)),
      printable(JSON.stringify(response ?? '').slice(0, 100)),
    ]),
  )
}

/** What a receiver sent, without anything that would speak to the terminal: control characters, or those that turn text around. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
