import {
  addEndpoint,
  disableByOperator,
  ENABLED_PER_ORGANIZATION_MAX,
  editEndpoint,
  enableEndpoint,
  endOverlap,
  listEndpoints,
  type Problem,
  removeEndpoint,
  rotateSecret,
  showEndpoint,
  type WebhookAct,
} from '../../admin/manage-webhooks.ts'
import { NOT_BLANK, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { EVENT_TYPES, EVENTS } from '../../core/webhooks/event-types.ts'
import { FAILING_MAX_MS } from '../../core/webhooks/schedule.ts'
import { COUNTED_MAX } from '../../store/environment/webhook-deliveries.ts'
import { defineOperation, type OperatorContext, type Refusal } from '../define-operation.ts'
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
export const listWebhooks = defineOperation({
  summary: 'List webhook endpoints with their health',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle(context) {
    const endpoints = await listEndpoints(context.installation, context)
    return { endpoints: await withFigures(context, endpoints), enabled_max: ENABLED_PER_ORGANIZATION_MAX }
  },
})

/** Shows one webhook endpoint: its state, its figures, and when it will be disabled if it keeps failing. */
export const showWebhook = defineOperation({
  summary: 'Show a webhook endpoint',
  access: 'see the console',
  input: Strict({ id }),
  audit: [],
  async handle(context) {
    const { installation, input, organizationId, environment } = context
    const endpoint = await showEndpoint(installation, { organizationId, environment }, input.id)
    if ('problem' in endpoint) return notFound
    const [shown] = await withFigures(context, [endpoint])
    const { failing_since, state } = endpoint
    return {
      endpoint: shown!,
      disabled_from:
        failing_since === null || state !== 'enabled'
          ? null
          : new Date(Date.parse(failing_since) + FAILING_MAX_MS).toISOString(),
      keep_days: installation.config.webhooksKeepDays,
    }
  },
})

/** The types of events that a webhook endpoint can get. */
export const showCatalogue = defineOperation({
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
export const addWebhook = defineOperation({
  summary: 'Add a webhook endpoint',
  access: 'manage webhooks',
  input: Strict({ url, description, event_types }),
  audit: ['webhook_endpoint.added'],
  async handle(context) {
    const { input, installation } = context
    const fields = { url: input.url.trim(), description: input.description.trim(), eventTypes: input.event_types }
    return answer(await addEndpoint(installation, actOf(context), fields))
  },
})

/** Changes the URL, the description or the types of events. */
export const editWebhook = defineOperation({
  summary: 'Edit a webhook endpoint',
  access: 'manage webhooks',
  input: Strict({
    id,
    reason,
    url: Type.Optional(url),
    description: Type.Optional(description),
    event_types: Type.Optional(event_types),
  }),
  audit: ['webhook_endpoint.edited'],
  async handle(context) {
    const { input, installation } = context
    const changed = await editEndpoint(installation, actOf(context), {
      id: input.id,
      ...(input.url !== undefined && { url: input.url.trim() }),
      ...(input.description !== undefined && { description: input.description.trim() }),
      ...(input.event_types !== undefined && { eventTypes: input.event_types }),
    })
    return answer(changed)
  },
})

/** Gives a webhook endpoint a new secret, which is answered once. */
export const rotateWebhookSecret = defineOperation({
  summary: 'Rotate the signing secret of a webhook endpoint',
  access: 'manage webhooks',
  input: Strict({ id, reason, overlap: Type.Boolean() }),
  audit: ['webhook_endpoint.secret_rotated'],
  async handle(context) {
    const { input, installation } = context
    const options = { withOverlap: input.overlap }
    return answer(await rotateSecret(installation, actOf(context), input.id, options))
  },
})

/** Stops signing with the previous secret before its time. */
export const endWebhookOverlap = defineOperation({
  summary: 'End the overlap of two signing secrets',
  access: 'manage webhooks',
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.overlap_ended'],
  handle: async (context) => answer(await endOverlap(context.installation, actOf(context), context.input.id)),
})

/** Stops sending to a webhook endpoint until it is enabled again. */
export const disableWebhook = defineOperation({
  summary: 'Disable a webhook endpoint',
  access: 'manage webhooks',
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.disabled'],
  async handle(context) {
    const what = { id: context.input.id, why: context.input.reason.trim() }
    return answer(await disableByOperator(context.installation, actOf(context), what))
  },
})

/** Sends to a webhook endpoint again, what was pending too. */
export const enableWebhook = defineOperation({
  summary: 'Enable a webhook endpoint',
  access: 'manage webhooks',
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.enabled'],
  handle: async (context) => answer(await enableEndpoint(context.installation, actOf(context), context.input.id)),
})

/** Removes a webhook endpoint for good; its deliveries are kept for their retention. */
export const removeWebhook = defineOperation({
  summary: 'Remove a webhook endpoint',
  access: 'manage webhooks',
  input: Strict({ id, reason }),
  audit: ['webhook_endpoint.removed'],
  handle: async (context) => answer(await removeEndpoint(context.installation, actOf(context), context.input.id)),
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

const notFound: Refusal = { problem: 'There is no such webhook endpoint in this environment.', status: 404 }

/** The act of the operator of a request, with the reason if the operation asks for one. */
export function actOf({ organizationId, environment, operator, input }: OperatorContext<unknown>): WebhookAct {
  const { reason: given } = input as { reason?: string }
  const actor = { type: 'operator', id: operator.id } as const
  return { organizationId, environment, actor, ...(given && { reason: given.trim() }) }
}

/** What an admin function did, or its problem as a refusal: 404 if what it names is missing. */
export function answer<T extends object>(done: T | Problem): T | Refusal {
  if (!('problem' in done)) return done
  if (done.code === 'endpoint_not_found') return notFound
  return { problem: done.problem, ...(done.code === 'event_not_found' && { status: 404 as const }) }
}
