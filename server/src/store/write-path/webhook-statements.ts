import { insertRows, type Params, type RowOf } from '../schema/tables.ts'

/** A delivery that waits belongs to nobody, since the beginning of time; one that is over never does again. */
export const FREE = '1970-01-01T00:00:00.000Z'
export const OVER = '9999-12-31T00:00:00.000Z'

/** Whether an endpoint listens to a type of event, for queries that call them `endpoint` and `event`. A test goes to all. */
export const LISTENS =
  "(endpoint.event_types = '*' OR event.type = 'webhook.test' OR event.type = ANY(string_to_array(endpoint.event_types, ' ')))"

/**
 * Puts events on their way to the endpoints that listen, as part of the statement that writes the events themselves.
 * So there is no moment at which one is there without the other, and nothing to catch up on after a crash. Where
 * nobody listens it costs a look at an empty table.
 */
export function fanOutEvents(events: readonly RowOf<'events'>[], params: Params): string {
  const column = (name: 'org_id' | 'id' | 'type' | 'created_at', type: string) =>
    params.add(
      events.map((event) => event[name]),
      type,
    )
  return `INSERT INTO webhook_deliveries (org_id, endpoint_id, event_id, state, attempts, schedule_step, due_at, leased_until)
    SELECT endpoint.org_id, endpoint.id, event.id, 'pending', 0, 0, event.created_at, '${FREE}'
    FROM unnest(${column('org_id', 'text[]')}, ${column('id', 'text[]')}, ${column('type', 'text[]')}, ${column('created_at', 'timestamptz[]')})
      AS event (org_id, id, type, created_at)
    JOIN webhook_endpoints AS endpoint ON endpoint.org_id = event.org_id
    WHERE endpoint.state = 'enabled' AND ${LISTENS} RETURNING 1`
}

/**
 * Starts deliveries from the first attempt on, in a round of their own; attempts that were made before stay counted and on
 * record. One that is in flight keeps its lease, and its answer goes on record, but only answers of this round decide.
 */
export function queueDeliveries(deliveries: readonly RowOf<'webhook_deliveries'>[], params: Params): string {
  return `${insertRows('webhook_deliveries', deliveries, params)}
    ON CONFLICT (org_id, endpoint_id, event_id) DO UPDATE SET state = 'pending', round = webhook_deliveries.round + 1,
      schedule_step = 0, due_at = excluded.due_at,
      leased_until = CASE WHEN webhook_deliveries.state = 'pending' THEN webhook_deliveries.leased_until ELSE excluded.leased_until END RETURNING 1`
}

/** Writes what people change of an endpoint. Its health belongs to the dispatcher, and starts anew when its state changes. */
export function updateEndpoints(endpoints: readonly RowOf<'webhook_endpoints'>[], params: Params): string {
  const column = (name: keyof RowOf<'webhook_endpoints'>, type: string) =>
    params.add(
      endpoints.map((endpoint) => endpoint[name]),
      `${type}[]`,
    )
  return `UPDATE webhook_endpoints AS endpoint SET state = next.state, secret = next.secret, previous_secret = next.previous_secret,
      previous_secret_until = next.previous_secret_until, disabled_at = next.disabled_at, disabled_why = next.disabled_why,
      failing_since = CASE WHEN endpoint.state = next.state THEN endpoint.failing_since END,
      failed_at = CASE WHEN endpoint.state = next.state THEN endpoint.failed_at END, version = next.version
    FROM unnest(${column('org_id', 'text')}, ${column('id', 'text')}, ${column('state', 'text')}, ${column('secret', 'text')},
      ${column('previous_secret', 'text')}, ${column('previous_secret_until', 'timestamptz')}, ${column('disabled_at', 'timestamptz')},
      ${column('disabled_why', 'text')}, ${column('version', 'bigint')})
      AS next (org_id, id, state, secret, previous_secret, previous_secret_until, disabled_at, disabled_why, version)
    WHERE endpoint.org_id = next.org_id AND endpoint.id = next.id AND endpoint.version = next.version - 1 RETURNING 1`
}
