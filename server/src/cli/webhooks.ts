import type { EnvironmentAct } from '../admin/act.ts'
import { listAttempts, listDeliveries, redeliver, sendTest } from '../admin/manage-deliveries.ts'
import {
  addEndpoint,
  disableByOperator,
  type EndpointWithSecret,
  editEndpoint,
  enableEndpoint,
  endOverlap,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
  type ShownEndpoint,
} from '../admin/manage-webhooks.ts'
import { invalid } from '../admin/problem.ts'
import { EVENT_TYPES } from '../core/webhooks/event-types.ts'
import type { Installation } from '../installation/installation.ts'
import { DELIVERY_STATES, type ListedDelivery } from '../store/environment/webhook-deliveries.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { type CommandInput, defineCommand, renderTable } from './command.ts'
import { printable } from './printable.ts'
import { commandAct, readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'

const DELIVERIES_SHOWN_MAX = 1_000
const reasonOption = { type: 'string', description: 'why; recorded in the audit log' } as const

export const webhooksAdd = defineCommand<EndpointWithSecret>({
  name: 'webhooks add',
  summary: 'Add a webhook endpoint; its signing secret is shown only once',
  usage: `webhooks add <url> [--events a,b] [--description <text>] ${TARGET_USAGE}`,
  arguments: ['url'],
  options: {
    ...targetOptions,
    events: {
      type: 'string',
      description: `all but audit.checkpoint (default), or a comma-separated list of: ${EVENT_TYPES.join(', ')}`,
    },
    description: { type: 'string', description: 'what the webhook endpoint is for' },
  },
  async run(installation, input) {
    const { options, positionals } = input
    const act = await readWebhookAct(installation, input)
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
  summary: 'List webhook endpoints with their states',
  usage: `webhooks list ${TARGET_USAGE}`,
  options: targetOptions,
  run: async (installation, input) => listEndpoints(installation, await readWebhookAct(installation, input)),
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

export const webhooksEdit = defineCommand<ShownEndpoint>({
  name: 'webhooks edit',
  summary: 'Change the URL, the event types or the description of a webhook endpoint',
  usage: `webhooks edit <endpoint id> [--url <url>] [--events a,b] [--description <text>] [--reason <text>] ${TARGET_USAGE}`,
  arguments: ['endpoint id'],
  options: {
    ...targetOptions,
    url: { type: 'string', description: 'the new URL; pending deliveries go there too' },
    events: {
      type: 'string',
      description: `all but audit.checkpoint, or a comma-separated list of: ${EVENT_TYPES.join(', ')}`,
    },
    description: { type: 'string', description: 'what the webhook endpoint is for' },
    reason: reasonOption,
  },
  async run(installation, input) {
    const { url, events, description } = input.options
    const act = await readWebhookAct(installation, input)
    return editEndpoint(installation, act, {
      id: input.positionals[0]!,
      ...(url !== undefined && { url: String(url) }),
      ...(events !== undefined && { eventTypes: readEvents(events) }),
      ...(description !== undefined && { description: String(description) }),
    })
  },
  render: ({ id, url }) => `Changed ${id}. Deliveries go to ${url}.`,
})

export const webhooksRemove = defineCommand<{ id: string; removed: true }>({
  name: 'webhooks remove',
  summary: 'Remove a webhook endpoint for good, with its secrets; what waits for it is not sent',
  usage: `webhooks remove <endpoint id> [--reason <text>] ${TARGET_USAGE}`,
  arguments: ['endpoint id'],
  options: { ...targetOptions, reason: reasonOption },
  run: async (installation, input) =>
    removeEndpoint(installation, await readWebhookAct(installation, input), input.positionals[0]!),
  render: ({ id }) => `Removed ${id}. Its deliveries stay on the console until WEBHOOKS_KEEP_DAYS are over.`,
})

export const webhooksTest = defineCommand<Awaited<ReturnType<typeof sendTest>>>({
  name: 'webhooks test',
  summary: 'Send a test event to every enabled webhook endpoint',
  usage: `webhooks test ${TARGET_USAGE}`,
  options: targetOptions,
  run: async (installation, input) => sendTest(installation, await readWebhookAct(installation, input)),
  render: ({ event_id, endpoints }) =>
    `Queued ${event_id} for ${endpoints.length} webhook ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}.`,
})

export const webhooksRotate = defineCommand<ShownEndpoint & { secret?: string }>({
  name: 'webhooks rotate',
  summary: 'Replace the signing secret of a webhook endpoint; the old and the new one both sign for 24 hours',
  usage: `webhooks rotate <endpoint id> [--end-overlap | --no-overlap] [--reason <text>] ${TARGET_USAGE}`,
  arguments: ['endpoint id'],
  options: {
    ...targetOptions,
    'end-overlap': { type: 'boolean', description: 'create no new secret; stop signing with the old one now' },
    'no-overlap': { type: 'boolean', description: 'end the old secret at once, because it may have leaked' },
    reason: reasonOption,
  },
  async run(installation, input) {
    const { options, positionals } = input
    const act = await readWebhookAct(installation, input)
    const id = positionals[0]!
    if (options['end-overlap'] === true) return endOverlap(installation, act, id)
    return rotateSecret(installation, act, { id, withOverlap: options['no-overlap'] !== true })
  },
  render: ({ secret, ...endpoint }) =>
    secret === undefined
      ? `Deliveries to ${endpoint.id} are now signed with the newest secret only.`
      : [
          renderSecret({ ...endpoint, secret }),
          endpoint.previous_secret_until === null
            ? 'The old secret signs no more.'
            : `The old secret signs too until ${endpoint.previous_secret_until}.`,
        ].join('\n'),
})

export const webhooksDisable = defineCommand<ShownEndpoint>({
  name: 'webhooks disable',
  summary: 'Stop sending to a webhook endpoint; its pending deliveries are kept',
  usage: `webhooks disable <endpoint id> [--reason <text>] ${TARGET_USAGE}`,
  arguments: ['endpoint id'],
  options: { ...targetOptions, reason: reasonOption },
  async run(installation, input) {
    const { reason = 'disabled by an operator', ...act } = await readWebhookAct(installation, input)
    return disableByOperator(installation, { ...act, reason }, input.positionals[0]!)
  },
  render: ({ id }) =>
    `Disabled ${id}. New events are not queued for it: after webhooks enable, send them with webhooks redeliver --since.`,
})

export const webhooksEnable = defineCommand<ShownEndpoint>({
  name: 'webhooks enable',
  summary: 'Resume sending to a webhook endpoint, including its pending deliveries',
  usage: `webhooks enable <endpoint id> [--reason <text>] ${TARGET_USAGE}`,
  arguments: ['endpoint id'],
  options: { ...targetOptions, reason: reasonOption },
  run: async (installation, input) =>
    enableEndpoint(installation, await readWebhookAct(installation, input), input.positionals[0]!),
  render: ({ id }) => `Enabled ${id}.`,
})

type Deliveries = { deliveries: ListedDelivery[] } | { attempts: RowOf<'webhook_attempts'>[] }

export const webhooksDeliveries = defineCommand<Deliveries>({
  name: 'webhooks deliveries',
  summary: 'List the deliveries to a webhook endpoint, or the attempts to deliver one event',
  usage: `webhooks deliveries <endpoint id> [--state pending|delivered|failed] [--limit <n>] [--event <event id>] ${TARGET_USAGE}`,
  arguments: ['endpoint id'],
  options: {
    ...targetOptions,
    state: { type: 'string', description: `only deliveries in this state: ${DELIVERY_STATES.join(', ')}` },
    limit: {
      type: 'string',
      description: `how many deliveries, newest first; 20 by default, at most ${DELIVERIES_SHOWN_MAX}`,
    },
    event: { type: 'string', description: 'list every attempt to deliver this event' },
  },
  async run(installation, input) {
    const { options, positionals } = input
    const act = await readWebhookAct(installation, input)
    const id = positionals[0]!
    if (options.event !== undefined)
      return { attempts: await listAttempts(installation, act, { id, eventId: String(options.event) }) }
    const limit = Number(options.limit ?? 20)
    if (!Number.isInteger(limit) || limit < 1 || limit > DELIVERIES_SHOWN_MAX)
      throw invalid('limit_invalid', `--limit must be a whole number from 1 to ${DELIVERIES_SHOWN_MAX}.`)
    const state = DELIVERY_STATES.find((known) => known === options.state)
    if (options.state !== undefined && state === undefined)
      throw invalid('state_unknown', `--state must be one of ${DELIVERY_STATES.join(', ')}.`)
    return { deliveries: await listDeliveries(installation, act, { id, state, limit }) }
  },
  render: (result) => ('deliveries' in result ? renderDeliveries(result.deliveries) : renderAttempts(result.attempts)),
})

export const webhooksRedeliver = defineCommand<{ queued: number }>({
  name: 'webhooks redeliver',
  summary: 'Send an event to a webhook endpoint again, or all events that never reached it',
  usage: `webhooks redeliver <endpoint id> --event <event id> | --since <time> [--reason <text>] ${TARGET_USAGE}`,
  arguments: ['endpoint id'],
  options: {
    ...targetOptions,
    event: { type: 'string', description: 'id of the event to send again' },
    since: {
      type: 'string',
      description:
        'send all events since this ISO 8601 time that never reached the webhook endpoint; limited to WEBHOOKS_KEEP_DAYS',
    },
    reason: reasonOption,
  },
  async run(installation, input) {
    const { options, positionals } = input
    const act = await readWebhookAct(installation, input)
    return redeliver(installation, act, { id: positionals[0]!, what: readSelection(options) })
  },
  render: ({ queued }) => `Queued ${queued} ${queued === 1 ? 'delivery' : 'deliveries'}.`,
})

async function readWebhookAct(installation: Installation, input: CommandInput): Promise<EnvironmentAct> {
  return commandAct(input, await readTarget(installation, input.options))
}

function readEvents(text: CommandInput['options'][string]): string[] | 'all' {
  if (text === undefined || text === 'all') return 'all'
  return String(text)
    .split(',')
    .map((type) => type.trim())
}

function readSelection({ event, since }: CommandInput['options']): { eventId: string } | { sinceMs: number } {
  if ((event === undefined) === (since === undefined))
    throw invalid('selection_missing', 'Add either --event <event id> or --since <time> to say what to send again.')
  if (event !== undefined) return { eventId: String(event) }
  const sinceMs = Date.parse(String(since))
  if (!(sinceMs > 0)) throw invalid('since_invalid', '--since must be an ISO 8601 time, such as 2026-11-15T09:30:00Z.')
  return { sinceMs }
}

function describeState({ state, disabled_why, failing_since }: ShownEndpoint): string {
  if (state === 'disabled') return `disabled: ${disabled_why}`
  return failing_since ? `failing since ${failing_since}` : state
}

function renderSecret({ id, secret, environment }: EndpointWithSecret): string {
  return `${secret}\n\nStore the secret now: it cannot be shown again.\nIt signs the deliveries to ${id} in ${environment}.`
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
