import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { eventWith, FREE, IS_EVENT, LISTENS } from '../write-path/webhook-statements.ts'

/** A webhook endpoint of an organization. */
export type WebhookEndpoint = RowOf<'webhook_endpoints'>

/** The backlog of deliveries, and the webhook endpoints by health. */
export interface WebhookFigures {
  pending: number
  oldest_due_at: string | null
  endpoints: { well: number; failing: number; disabled: number }
}

/** An event to deliver. */
export type EventKey = Pick<RowOf<'events'>, 'id' | 'type'>

const ENDPOINT_COLUMNS = columnsOf('webhook_endpoints').join(', ')

/** The queries that operators use for webhook endpoints and their deliveries. */
export function webhookQueries(database: Database) {
  return {
    /** Reads the webhook endpoints of an organization without the removed ones, oldest first. */
    async endpoints(organizationId: string): Promise<WebhookEndpoint[]> {
      return database.query<WebhookEndpoint & Row>(
        `SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoints WHERE org_id = $1 AND state <> 'removed' ORDER BY id`,
        [organizationId],
      )
    },

    /** Reads one webhook endpoint of an organization, unless it was removed. */
    async endpoint(organizationId: string, id: string): Promise<WebhookEndpoint | undefined> {
      const [endpoint] = await database.query<WebhookEndpoint & Row>(
        `SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoints WHERE org_id = $1 AND id = $2 AND state <> 'removed'`,
        [organizationId, id],
      )
      return endpoint
    },

    /**
     * Reads the events that a webhook endpoint listens to but has not received: their delivery failed for good or waits
     * for another attempt, or they were written while it was disabled. Oldest first, after a given id; ids sort by time.
     */
    async undeliveredEvents({
      organizationId,
      endpointId,
      afterEventId,
      limit,
    }: {
      organizationId: string
      endpointId: string
      afterEventId: string
      limit: number
    }): Promise<EventKey[]> {
      // Each part reads along its own primary key, and ends at the limit.
      const undelivered = ({ table, id, after, where }: Record<'table' | 'id' | 'after' | 'where', string>) => `(
         SELECT ${id} AS id, event.type FROM ${table} AS event
         JOIN webhook_endpoints AS endpoint ON endpoint.org_id = event.org_id AND endpoint.id = $2
         LEFT JOIN webhook_deliveries AS delivery
           ON delivery.org_id = event.org_id AND delivery.endpoint_id = $2 AND delivery.event_id = ${id}
         WHERE event.org_id = $1 AND event.id > ${after} AND ${where} AND ${LISTENS}
           AND (delivery.state IS NULL OR delivery.state = 'failed'
             OR delivery.state = 'pending' AND delivery.attempts > 0 AND delivery.leased_until <= clock_timestamp())
         ORDER BY event.id LIMIT $4)`
      const separate = { table: 'events', id: 'event.id', after: '$3', where: 'true' }
      const audited = {
        table: 'audit_entries',
        id: "('evt_' || substr(event.id, 5))",
        after: "'aud_' || substr($3, 5)",
        where: `event.${IS_EVENT}`,
      }
      return database.query<EventKey & Row>(
        `${undelivered(separate)} UNION ALL ${undelivered(audited)} ORDER BY id LIMIT $4`,
        [organizationId, endpointId, afterEventId, limit],
      )
    },

    /** Counts pending deliveries of enabled webhook endpoints (reads all of them), and endpoints by health. */
    async figures(): Promise<WebhookFigures> {
      const [waiting] = await database.query<{ pending: number; oldest_due_at: string | null }>(
        `SELECT count(*) AS pending, min(delivery.due_at) AS oldest_due_at FROM webhook_deliveries AS delivery
         JOIN webhook_endpoints AS endpoint ON endpoint.org_id = delivery.org_id AND endpoint.id = delivery.endpoint_id
         WHERE delivery.state = 'pending' AND endpoint.state = 'enabled'`,
      )
      const [endpoints] = await database.query<WebhookFigures['endpoints']>(
        `SELECT count(*) FILTER (WHERE state = 'enabled' AND failing_since IS NULL) AS well,
           count(*) FILTER (WHERE state = 'enabled' AND failing_since IS NOT NULL) AS failing,
           count(*) FILTER (WHERE state = 'disabled') AS disabled
         FROM webhook_endpoints`,
      )
      return { ...waiting!, endpoints: endpoints! }
    },

    /** Reads when an event of an organization was written, and its type; undefined if there is none with this id. */
    async event(organizationId: string, id: string): Promise<(EventKey & { created_at: string }) | undefined> {
      const [event] = await database.query<EventKey & { created_at: string }>(
        `SELECT event.id, event.type, event.created_at FROM ${eventWith('$1', '$2')} AS event`,
        [organizationId, id],
      )
      return event
    },

    /** Deletes removed webhook endpoints whose deliveries are past their retention. */
    async purgeRemoved(): Promise<void> {
      await database.query(
        `DELETE FROM webhook_endpoints AS endpoint WHERE endpoint.state = 'removed' AND NOT EXISTS (
           SELECT 1 FROM webhook_deliveries AS delivery
           WHERE delivery.org_id = endpoint.org_id AND delivery.endpoint_id = endpoint.id)`,
      )
    },

    /** Deletes counts of attempts in hours before a moment, at most `limit` at once; returns how many. */
    async purgeCounts(before: string, limit: number): Promise<number> {
      const rows = await database.query(
        `DELETE FROM webhook_attempts_by_hour WHERE ctid = ANY (ARRAY (
           SELECT ctid FROM webhook_attempts_by_hour WHERE hour < $1::timestamptz ORDER BY hour LIMIT $2)) RETURNING 1`,
        [before, limit],
      )
      return rows.length
    },

    /**
     * Looks at a batch of events between two ids, which sort by time, and deletes those that no delivery refers to.
     * Returns the last id that it looked at; undefined if there are no more.
     */
    async purgeEvents({
      afterId,
      beforeId,
      limit,
    }: {
      afterId: string
      beforeId: string
      limit: number
    }): Promise<string | undefined> {
      const keys = await database.query<{ org_id: string; id: string }>(
        'SELECT org_id, id FROM events WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3',
        [afterId, beforeId, limit],
      )
      if (keys.length === 0) return undefined
      // By way of the webhook endpoints, which are few: the primary key of deliveries starts with theirs.
      await database.query(
        `DELETE FROM events AS event USING unnest($1::text[], $2::text[]) AS old (org_id, id)
         WHERE event.org_id = old.org_id AND event.id = old.id AND NOT EXISTS (
           SELECT 1 FROM webhook_endpoints AS endpoint
           JOIN webhook_deliveries AS delivery
             ON delivery.org_id = endpoint.org_id AND delivery.endpoint_id = endpoint.id AND delivery.event_id = old.id
           WHERE endpoint.org_id = old.org_id)`,
        [keys.map(({ org_id }) => org_id), keys.map(({ id }) => id)],
      )
      return keys.at(-1)!.id
    },
  }
}

/** Builds the row of a delivery that is due at a given time. */
export function queuedDelivery(
  endpoint: Pick<WebhookEndpoint, 'org_id' | 'id'>,
  { event, dueAt, isByHand }: { event: EventKey; dueAt: string; isByHand: boolean },
): RowOf<'webhook_deliveries'> {
  return {
    org_id: endpoint.org_id,
    endpoint_id: endpoint.id,
    event_id: event.id,
    event_type: event.type,
    state: 'pending',
    attempts: 0,
    schedule_step: 0,
    due_at: dueAt,
    by_hand: isByHand,
    leased_until: FREE,
  }
}
