import { AUDITED_EVENT_TYPES } from '../../core/audit/audit-data.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { columnsOf, insertRows, type Params, type RowOf, unnestAs, unnestRows } from '../schema/tables.ts'
import type { OfOrganization } from './change.ts'
import { dataOf, type EntryData } from './entry-data.ts'

/** `leased_until` of a delivery that no node has leased, and of one that has ended and is never leased again. */
export const FREE = '1970-01-01T00:00:00.000Z'
export const OVER = '9999-12-31T00:00:00.000Z'

/**
 * SQL: the row `endpoint` listens to the type of the row `event`. Every webhook endpoint gets `webhook.test`. Heads of the
 * audit log are for receivers that keep them, so only those that name `audit.checkpoint` get it.
 */
export const LISTENS =
  "(endpoint.event_types = '*' AND event.type <> 'audit.checkpoint' OR event.type = 'webhook.test' OR event.type = ANY(string_to_array(endpoint.event_types, ' ')))"

/** What is known of an event when its deliveries are queued. */
export type AnnouncedEvent = Pick<RowOf<'events'>, 'id' | 'type' | 'created_at'>

/** SQL: the event with this id, which is a row of `events` or an audit entry. */
export function eventWith(organization: string, id: string): string {
  return `(SELECT org_id, id, type, created_at, data, NULL::text AS trail_id, NULL::text AS subject_id, NULL::bytea AS hashes
      FROM events WHERE org_id = ${organization} AND id = ${id}
    UNION ALL SELECT org_id, ${id}, type, occurred_at, data, trail_id, subject_id, hashes FROM audit_entries WHERE org_id = ${organization}
      AND id = 'aud_' || substr(${id}, 5) AND ${IS_EVENT} LIMIT 1)`
}

/**
 * SQL: the reference of the decision that the event `event` of `eventWith` is about; NULL if there is none. The data of an
 * entry may have been altered so that it is no JSON, so the id is found as text.
 */
export const REFERENCE = `(SELECT decision.reference FROM decisions AS decision
    WHERE event.type LIKE 'decision.%' AND decision.org_id = event.org_id
      AND decision.id = coalesce(substring(event.data FROM '"decision_id":"([0-9a-z_]+)"'), event.subject_id))`

/** The data of an event that `eventWith` found, as it is sent: with the `REFERENCE`, and not with its hash. */
export function sentData(event: EntryData & { reference: string | null }): string {
  if (event.hashes === null && event.reference === null) return event.data
  const { reference_hash: _, ...data } = dataOf(event)
  return canonicalJson(event.reference === null ? data : { ...data, reference: event.reference })
}

/** SQL: an audit entry is an event too. */
export const IS_EVENT = `type IN (${AUDITED_EVENT_TYPES.map((type) => `'${type}'`).join(', ')})`

/**
 * Queues a delivery for each event and each webhook endpoint that listens to it, in the statement that writes the
 * events. So an event is never committed without its deliveries, and a crash leaves nothing to repair. Without webhook
 * endpoints it costs one scan of an empty table.
 */
export function fanOutEvents(events: readonly (AnnouncedEvent & OfOrganization)[], params: Params): string {
  const columns = { org_id: 'text', id: 'text', type: 'text', created_at: 'timestamptz' }
  return `INSERT INTO webhook_deliveries (org_id, endpoint_id, event_id, event_type, state, attempts, schedule_step, due_at, leased_until)
    SELECT endpoint.org_id, endpoint.id, event.id, event.type, 'pending', 0, 0, event.created_at, '${FREE}'
    FROM ${unnestAs('event', events, columns, params)}
    JOIN webhook_endpoints AS endpoint ON endpoint.org_id = event.org_id
    WHERE endpoint.state = 'enabled' AND ${LISTENS} RETURNING 1`
}

/**
 * Queues deliveries from the first step of the schedule. A delivery that exists is queued again: `cycle` is
 * incremented, and earlier attempts stay counted and recorded. An attempt that is in flight keeps its lease and is
 * recorded, but does not settle the delivery, because it belongs to the previous `cycle`.
 */
export function queueDeliveries(deliveries: readonly RowOf<'webhook_deliveries'>[], params: Params): string {
  return `${insertRows('webhook_deliveries', deliveries, params)}
    ON CONFLICT (org_id, endpoint_id, event_id) DO UPDATE SET state = 'pending', cycle = webhook_deliveries.cycle + 1,
      schedule_step = 0, due_at = excluded.due_at, by_hand = excluded.by_hand,
      leased_until = CASE WHEN webhook_deliveries.state = 'pending' THEN webhook_deliveries.leased_until ELSE excluded.leased_until END RETURNING 1`
}

/** The key, the optimistic lock, and what is fixed or belongs to the dispatcher. */
const NOT_CHANGED = ['org_id', 'id', 'version', 'created_at', 'failing_since']

/** Writes the columns that operators change. The dispatcher writes health; another state or URL resets it. */
export function updateEndpoints(endpoints: readonly RowOf<'webhook_endpoints'>[], params: Params): string {
  const columns = columnsOf('webhook_endpoints')
  const set = columns.filter((name) => !NOT_CHANGED.includes(name)).map((name) => `${name} = next.${name}`)
  const isSame = 'endpoint.state = next.state AND endpoint.url = next.url'
  return `UPDATE webhook_endpoints AS endpoint SET ${set.join(', ')}, version = next.version,
      failing_since = CASE WHEN ${isSame} THEN endpoint.failing_since END,
      failed_at = CASE WHEN ${isSame} THEN endpoint.failed_at END
    FROM ${unnestRows('webhook_endpoints', endpoints, params)} AS next (${columns.join(', ')})
    WHERE endpoint.org_id = next.org_id AND endpoint.id = next.id AND endpoint.version = next.version - 1 RETURNING 1`
}
