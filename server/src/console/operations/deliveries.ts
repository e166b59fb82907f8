import { listDeliveries, redeliver, sendTest, showDelivery } from '../../admin/manage-deliveries.ts'
import { invalid } from '../../admin/problem.ts'
import { NOT_BLANK, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { EVENT_TYPES } from '../../core/webhooks/event-types.ts'
import { ANSWER_CLASSES, DELIVERY_STATES } from '../../store/environment/webhook-deliveries.ts'
import { defineOperation } from '../define-operation.ts'

const PAGE_DELIVERIES = 25
const id = Type.String({ minLength: 1, maxLength: 40 })
const reason = Type.String({ minLength: 1, maxLength: 500, pattern: NOT_BLANK })

/** Lists deliveries of one webhook endpoint or of all, the removed ones too, newest event first. */
const listWebhookDeliveries = defineOperation({
  summary: 'List webhook deliveries',
  access: listDeliveries.permission,
  input: Strict({
    endpoint_id: Type.Optional(id),
    event_id: Type.Optional(id),
    state: Type.Optional(OneOf(DELIVERY_STATES)),
    event_type: Type.Optional(OneOf(EVENT_TYPES)),
    answer: Type.Optional(OneOf(ANSWER_CLASSES)),
    cursor: Type.Optional(Type.String({ maxLength: 100 })),
  }),
  audit: [],
  async handle({ input, store, organizationId }) {
    const before = readCursor(input.cursor)
    const found = await store.deliveries.page({
      organizationId,
      endpointId: input.endpoint_id,
      eventId: input.event_id,
      state: input.state,
      eventType: input.event_type,
      answer: input.answer,
      before,
      limit: PAGE_DELIVERIES + 1,
    })
    const deliveries = found.slice(0, PAGE_DELIVERIES)
    const last = deliveries.at(-1)!
    return { deliveries, next_cursor: found.length > PAGE_DELIVERIES ? `${last.event_id}.${last.endpoint_id}` : null }
  },
})

/** Shows one delivery: the body that is sent, and every attempt with its headers and answer. */
const showWebhookDelivery = defineOperation({
  summary: 'Show a webhook delivery with its attempts',
  access: showDelivery.permission,
  input: Strict({ endpoint_id: id, event_id: id }),
  audit: [],
  handle: ({ input, installation, act }) =>
    showDelivery(installation, act, { id: input.endpoint_id, eventId: input.event_id }),
})

/** Sends one event to a webhook endpoint again. */
const redeliverEvent = defineOperation({
  summary: 'Redeliver an event to a webhook endpoint',
  access: redeliver.permission,
  input: Strict({ endpoint_id: id, event_id: id }),
  audit: ['webhook_endpoint.redelivery'],
  handle: ({ input, installation, act }) =>
    redeliver(installation, act, { id: input.endpoint_id, what: { eventId: input.event_id } }),
})

/** Sends all events since a moment again that failed, wait for another attempt, or were never queued. */
const recoverDeliveries = defineOperation({
  summary: 'Recover failed and waiting deliveries of a webhook endpoint',
  access: redeliver.permission,
  input: Strict({ endpoint_id: id, since: Type.String({ format: 'date-time', maxLength: 40 }), reason }),
  audit: ['webhook_endpoint.redelivery'],
  handle: ({ input, installation, act }) =>
    redeliver(installation, act, { id: input.endpoint_id, what: { sinceMs: Date.parse(input.since) } }),
})

/** Queues a test event for every enabled webhook endpoint, as the public API does. */
const sendTestEvent = defineOperation({
  summary: 'Send a test event to the enabled webhook endpoints',
  access: sendTest.permission,
  input: Strict({}),
  audit: ['webhook.test'],
  handle: ({ installation, act }) => sendTest(installation, act),
})

function readCursor(text: string | undefined): { eventId: string; endpointId: string } | undefined {
  if (text === undefined) return undefined
  const [eventId, endpointId, ...more] = text.split('.')
  if (!eventId || !endpointId || more.length > 0)
    throw invalid('cursor_malformed', 'This page of the list does not exist.')
  return { eventId, endpointId }
}

/** The operations `deliveries.<verb>`. */
export const deliveries = {
  list: listWebhookDeliveries,
  show: showWebhookDelivery,
  redeliver: redeliverEvent,
  recover: recoverDeliveries,
  'send-test': sendTestEvent,
}
