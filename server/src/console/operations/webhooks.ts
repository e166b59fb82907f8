import {
  addEndpoint,
  disableByOperator,
  ENABLED_PER_ORGANIZATION_MAX,
  editEndpoint,
  enableEndpoint,
  endOverlap,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
  showEndpoint,
} from '../../admin/manage-webhooks.ts'
import { NOT_BLANK, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { EVENT_TYPES, EVENTS } from '../../core/webhooks/event-types.ts'
import { FAILING_MAX_MS } from '../../core/webhooks/schedule.ts'
import { COUNTED_MAX } from '../../store/environment/webhook-deliveries.ts'
import { defineOperation, type OperatorContext } from '../define-operation.ts'
import { recordMakers } from '../record-makers.ts'

const HOUR_MS = 3_600_000
const HOURS_SHOWN = 24
const id = Type.String({ minLength: 1, maxLength: 40 })
const reason = Type.String({ minLength: 1, maxLength: 500, pattern: NOT_BLANK })
const description = Type.String({ maxLength: 255 })
const url = Type.String({ minLength: 1, maxLength: 4_096 })
const event_types = Type.Union([
  Type.Literal('all'),
  Type.Array(OneOf(EVENT_TYPES), { minItems: 1, maxItems: EVENT_TYPES.length }),
])

/** Lists the webhook endpoints with their health, and the attempts of the last 24 hours. */
const listWebhooks = defineOperation({
  summary: 'List webhook endpoints with their health',
  access: listEndpoints.permission,
  input: Strict({}),
  audit: [],
  async handle(context) {
    const endpoints = await listEndpoints(context.installation, context.act)
    return { endpoints: await withFigures(context, endpoints), enabled_max: ENABLED_PER_ORGANIZATION_MAX }
  },
})

/** Shows one webhook endpoint: its state, its figures, and when it will be disabled if it keeps failing. */
const showWebhook = defineOperation({
  summary: 'Show a webhook endpoint',
  access: showEndpoint.permission,
  input: Strict({ id }),
  audit: [],
  async handle(context) {
    const { installation, input, act } = context
    const endpoint = await showEndpoint(installation, act, input.id)
    const [shown] = await withFigures(context, [endpoint])
    const { failing_since, state } = endpoint
    return {
      endpoint: shown!,
      disabled_from:
        failing_since === null || state !== 'enabled'
          ? null
          : new Date(Date.parse(failing_since) + FAILING_MAX_MS).toISOString(),
      keep_days: installation.config.keepDays.webhooks,
    }
  },
})

/** The types of events that a webhook endpoint can get. */
const showCatalogue = defineOperation({
  summary: 'List the types of events',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ environment, installation }) {
    return {
      event_types: EVENT_TYPES.map((type) => ({ type, summary: EVENTS[type].summary })),
      allows_loopback: environment === 'sandbox' && installation.config.webhooksAllowLoopback,
      environment,
    }
  },
})

/** Adds a webhook endpoint and answers with its secret, which cannot be shown again. */
const addWebhook = defineOperation({
  summary: 'Add a webhook endpoint',
  access: addEndpoint.permission,
  input: Strict({ url, description, event_types }),
  audit: ['webhook_endpoint.added'],
  handle: ({ input, installation, act }) =>
    addEndpoint(installation, act, {
      url: input.url.trim(),
      description: input.description.trim(),
      eventTypes: input.event_types,
    }),
})

/** Changes the URL, the description or the types of events. */
const editWebhook = defineOperation({
  summary: 'Edit a webhook endpoint',
  access: editEndpoint.permission,
  input: Strict({
    id,
    reason,
    url: Type.Optional(url),
    description: Type.Optional(description),
    event_types: Type.Optional(event_types),
  }),
  audit: ['webhook_endpoint.edited'],
  handle: ({ input, installation, act }) =>
    editEndpoint(installation, act, {
      id: input.id,
      ...(input.url !== undefined && { url: input.url.trim() }),
      ...(input.description !== undefined && { description: input.description.trim() }),
      ...(input.event_types !== undefined && { eventTypes: input.event_types }),
    }),
})

/** Gives a webhook endpoint a new secret, which is answered once. */
const rotateWebhookSecret = defineOperation({
  summary: 'Rotate the signing secret of a webhook endpoint',
  access: rotateSecret.permission,
  input: Strict({ id, reason, overlap: Type.Boolean() }),
  audit: ['webhook_endpoint.secret_rotated'],
  handle: ({ input, installation, act }) =>
    rotateSecret(installation, act, { id: input.id, withOverlap: input.overlap }),
})

/** Stops signing with the previous secret before its time. */
const endWebhookOverlap = defineOperation({
  summary: 'End the overlap of two signing secrets',
  access: endOverlap.permission,
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.overlap_ended'],
  handle: ({ input, installation, act }) => endOverlap(installation, act, input.id),
})

/** Stops sending to a webhook endpoint until it is enabled again. */
const disableWebhook = defineOperation({
  summary: 'Disable a webhook endpoint',
  access: disableByOperator.permission,
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.disabled'],
  handle: ({ input, installation, act }) => disableByOperator(installation, act, input.id),
})

/** Sends to a webhook endpoint again, what was pending too. */
const enableWebhook = defineOperation({
  summary: 'Enable a webhook endpoint',
  access: enableEndpoint.permission,
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.enabled'],
  handle: ({ input, installation, act }) => enableEndpoint(installation, act, input.id),
})

/** Removes a webhook endpoint for good; its deliveries are kept for their retention. */
const removeWebhook = defineOperation({
  summary: 'Remove a webhook endpoint',
  access: removeEndpoint.permission,
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.removed'],
  handle: ({ input, installation, act }) => removeEndpoint(installation, act, input.id),
})

/** Adds to webhook endpoints who added them, what waits, and the attempts of each of the last 24 hours. */
async function withFigures<T extends { id: string }>(
  { installation, store, organizationId, now }: OperatorContext<unknown>,
  endpoints: readonly T[],
) {
  const ids = endpoints.map((endpoint) => endpoint.id)
  const since = new Date(Date.parse(now) - (HOURS_SHOWN - 1) * HOUR_MS)
  const [makerOf, figures, attempts] = await Promise.all([
    recordMakers(installation, store, { organizationId, ids }),
    store.deliveries.figures(organizationId, ids),
    store.deliveries.attemptsByHour(organizationId, ids, since.toISOString()),
  ])
  const first = Math.floor(since.getTime() / HOUR_MS) * HOUR_MS
  const hours = Array.from({ length: HOURS_SHOWN }, (_, index) => new Date(first + index * HOUR_MS).toISOString())
  const counted = new Map(attempts.map((row) => [`${row.endpoint_id} ${row.hour}`, row]))
  return endpoints.map((endpoint) => {
    const own = figures.find((row) => row.endpoint_id === endpoint.id)
    return {
      ...endpoint,
      added_by: makerOf(endpoint.id),
      waiting: Math.min(own?.waiting ?? 0, COUNTED_MAX),
      failed: Math.min(own?.failed ?? 0, COUNTED_MAX),
      counted_max: COUNTED_MAX,
      last_delivered_at: own?.last_delivered_at ?? null,
      median_ms: own?.median_ms ?? null,
      hours: hours.map((hour) => {
        const { delivered = 0, failed = 0 } = counted.get(`${endpoint.id} ${hour}`) ?? {}
        return { hour, delivered, failed }
      }),
    }
  })
}

/** The operations `webhooks.<verb>`. */
export const webhooks = {
  list: listWebhooks,
  show: showWebhook,
  'show-catalogue': showCatalogue,
  add: addWebhook,
  edit: editWebhook,
  'rotate-secret': rotateWebhookSecret,
  'end-overlap': endWebhookOverlap,
  disable: disableWebhook,
  enable: enableWebhook,
  remove: removeWebhook,
}
