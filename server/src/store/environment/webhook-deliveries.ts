import type { Database, Row } from '../database/database.ts'
import { columnsOf, Params, type RowOf } from '../schema/tables.ts'
import type { EntryData } from '../write-path/entry-data.ts'
import { eventWith, OVER, REFERENCE, sentData } from '../write-path/webhook-statements.ts'

/** The states of a delivery. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const

/** The answers that deliveries are filtered by: the class of the last status, or none. */
export const ANSWER_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const

/** A delivery with its event and its last attempt, as `webhooks deliveries` lists it. */
export type ListedDelivery = Pick<
  RowOf<'webhook_deliveries'>,
  'endpoint_id' | 'event_id' | 'event_type' | 'state' | 'attempts' | 'due_at'
> & {
  /** Scheme and host of the webhook endpoint, and whether it is enabled, disabled or removed. */
  endpoint_url: string
  endpoint_state: string
  created_at: string
  last_attempt_at: string | null
  last_status: number | null
  last_error: string | null
  last_duration_ms: number | null
  /** The statuses of its last ten attempts, oldest first; 0 where there was no answer. */
  answers: number[]
}

/** Which deliveries to list. */
export interface DeliveryFilter {
  organizationId: string
  /** All webhook endpoints, the removed ones too, unless one is named. */
  endpointId?: string | undefined
  eventId?: string | undefined
  state?: (typeof DELIVERY_STATES)[number] | undefined
  eventType?: string | undefined
  answer?: (typeof ANSWER_CLASSES)[number] | undefined
  /** The last delivery of the page before. */
  before?: { eventId: string; endpointId: string } | undefined
  limit: number
}

/** The attempts of one hour. */
export interface AttemptsOfHour {
  endpoint_id: string
  hour: string
  delivered: number
  failed: number
}

/** What waits for a webhook endpoint, and how it answers. */
export interface EndpointFigures {
  endpoint_id: string
  /** Deliveries that wait for an attempt, and that failed for good; counted up to `COUNTED_MAX`. */
  waiting: number
  failed: number
  last_delivered_at: string | null
  /** Of the last answers. */
  median_ms: number | null
}

/** Counting stops here: a backlog may be long, and the page then says "more than". */
export const COUNTED_MAX = 10_000
const ANSWERS_IN_MEDIAN = 100

/** The queries about deliveries and attempts that operators use. */
export function webhookDeliveryQueries(database: Database) {
  return {
    /** Reads deliveries, newest event first, each with its last attempt. */
    async page(filter: DeliveryFilter): Promise<ListedDelivery[]> {
      const params = new Params()
      return database.query<ListedDelivery & Row>(listStatement(filter, params), params.values)
    },

    /** Reads every attempt of one delivery, in order. */
    async attempts({
      organizationId,
      endpointId,
      eventId,
    }: {
      organizationId: string
      endpointId: string
      eventId: string
    }): Promise<RowOf<'webhook_attempts'>[]> {
      return database.query<RowOf<'webhook_attempts'> & Row>(
        `SELECT ${columnsOf('webhook_attempts').join(', ')} FROM webhook_attempts
         WHERE org_id = $1 AND endpoint_id = $2 AND event_id = $3 ORDER BY number`,
        [organizationId, endpointId, eventId],
      )
    },

    /** Reads one delivery with its event. */
    async find({
      organizationId,
      endpointId,
      eventId,
    }: {
      organizationId: string
      endpointId: string
      eventId: string
    }): Promise<
      (Pick<RowOf<'webhook_deliveries'>, 'event_id' | 'state' | 'attempts' | 'due_at'> & RowOf<'events'>) | undefined
    > {
      type Found = RowOf<'webhook_deliveries'> & RowOf<'events'> & EntryData & { reference: string | null }
      const [row] = await database.query<Found & Row>(
        `SELECT delivery.event_id, delivery.state, delivery.attempts, delivery.due_at, event.*, ${REFERENCE} AS reference
         FROM webhook_deliveries AS delivery CROSS JOIN LATERAL ${eventWith('delivery.org_id', 'delivery.event_id')} AS event
         WHERE delivery.org_id = $1 AND delivery.endpoint_id = $2 AND delivery.event_id = $3`,
        [organizationId, endpointId, eventId],
      )
      return row && { ...row, data: sentData(row) }
    },

    /** Reads the attempts of each hour since a moment, oldest first. */
    async attemptsByHour(
      organizationId: string,
      endpointIds: readonly string[],
      since: string,
    ): Promise<AttemptsOfHour[]> {
      return database.query<AttemptsOfHour & Row>(
        `SELECT endpoint_id, hour, sum(delivered)::bigint AS delivered, sum(failed)::bigint AS failed FROM webhook_attempts_by_hour
         WHERE org_id = $1 AND endpoint_id = ANY($2::text[]) AND hour >= date_trunc('hour', $3::timestamptz, 'UTC')
         GROUP BY endpoint_id, hour ORDER BY hour, endpoint_id`,
        [organizationId, endpointIds, since],
      )
    },

    /** Reads what waits for webhook endpoints and how they answer: a bounded number of rows for each. */
    async figures(organizationId: string, endpointIds: readonly string[]): Promise<EndpointFigures[]> {
      return database.query<EndpointFigures & Row>(
        `SELECT endpoint.id AS endpoint_id, ${countOf('pending')} AS waiting, ${countOf('failed')} AS failed,
           (SELECT last_delivered_at FROM webhook_attempts_by_hour AS counted
            WHERE counted.org_id = endpoint.org_id AND counted.endpoint_id = endpoint.id AND counted.delivered > 0
            ORDER BY hour DESC, last_delivered_at DESC LIMIT 1) AS last_delivered_at,
           (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms))::integer FROM (
              SELECT duration_ms, status FROM webhook_attempts AS attempt
              WHERE attempt.org_id = endpoint.org_id AND attempt.endpoint_id = endpoint.id
              ORDER BY event_id DESC, number DESC LIMIT ${ANSWERS_IN_MEDIAN}) AS newest WHERE status IS NOT NULL) AS median_ms
         FROM webhook_endpoints AS endpoint WHERE endpoint.org_id = $1 AND endpoint.id = ANY($2::text[])`,
        [organizationId, endpointIds],
      )
    },

    /**
     * Deletes deliveries that ended before a given moment, with their attempts: at most `limit` at once, and returns
     * how many were found. The attempts are deleted first: after a crash in between, no attempt is left whose number a
     * new delivery of the same event would use again. A delivery that is queued again meanwhile keeps its new attempts.
     */
    async purge(overBefore: string, limit: number): Promise<number> {
      type Old = Pick<RowOf<'webhook_deliveries'>, 'org_id' | 'endpoint_id' | 'event_id' | 'attempts'>
      const keys = await database.query<Old & Row>(
        `SELECT org_id, endpoint_id, event_id, attempts FROM webhook_deliveries
         WHERE state <> 'pending' AND due_at < $1::timestamptz ORDER BY due_at LIMIT $2`,
        [overBefore, limit],
      )
      if (keys.length === 0) return 0
      const arrays = [
        keys.map((key) => key.org_id),
        keys.map((key) => key.endpoint_id),
        keys.map((key) => key.event_id),
        keys.map((key) => key.attempts),
      ]
      const old = (
        table: string,
      ) => `USING unnest($1::text[], $2::text[], $3::text[], $4::integer[]) AS old (org_id, endpoint_id, event_id, attempts)
        WHERE ${table}.org_id = old.org_id AND ${table}.endpoint_id = old.endpoint_id AND ${table}.event_id = old.event_id`
      await database.query(
        `DELETE FROM webhook_attempts AS attempt ${old('attempt')} AND attempt.number <= old.attempts`,
        arrays,
      )
      await database.query(
        `DELETE FROM webhook_deliveries AS delivery ${old('delivery')} AND delivery.state <> 'pending' AND delivery.due_at < $5::timestamptz`,
        [...arrays, overBefore],
      )
      return keys.length
    },

    /** Ends pending deliveries of removed webhook endpoints, at most `limit` at once; returns how many. */
    async endRemoved(now: string, limit: number): Promise<number> {
      const rows = await database.query(
        `UPDATE webhook_deliveries AS delivery SET state = 'failed', due_at = $1::timestamptz, leased_until = '${OVER}'
         FROM (SELECT waiting.org_id, waiting.endpoint_id, waiting.event_id FROM webhook_endpoints AS endpoint
               JOIN webhook_deliveries AS waiting ON waiting.org_id = endpoint.org_id AND waiting.endpoint_id = endpoint.id
               WHERE endpoint.state = 'removed' AND waiting.state = 'pending' LIMIT $2) AS ended
         WHERE delivery.org_id = ended.org_id AND delivery.endpoint_id = ended.endpoint_id AND delivery.event_id = ended.event_id
           AND delivery.state = 'pending' RETURNING 1`,
        [now, limit],
      )
      return rows.length
    },
  }
}

/**
 * Reads a page of each webhook endpoint and merges them: the indexes of deliveries start with the webhook endpoint, of
 * which an organization has few. States and answers are written into the text, so that partial indexes match.
 */
function listStatement(
  { organizationId, endpointId, eventId, state, eventType, answer, before, limit }: DeliveryFilter,
  params: Params,
): string {
  const organization = params.add(organizationId, 'text')
  const size = params.add(limit, 'bigint')
  const conditions = ['delivery.org_id = endpoint.org_id AND delivery.endpoint_id = endpoint.id']
  if (state !== undefined) conditions.push(`delivery.state = '${DELIVERY_STATES.find((known) => known === state)}'`)
  if (answer !== undefined)
    conditions.push(`delivery.last_answer = '${ANSWER_CLASSES.find((known) => known === answer)}'`)
  if (eventType !== undefined) conditions.push(`delivery.event_type = ${params.add(eventType, 'text')}`)
  if (eventId !== undefined) conditions.push(`delivery.event_id = ${params.add(eventId, 'text')}`)
  if (before) {
    const event = params.add(before.eventId, 'text')
    conditions.push(`delivery.event_id <= ${event}`)
    conditions.push(`(delivery.event_id, delivery.endpoint_id) < (${event}, ${params.add(before.endpointId, 'text')})`)
  }
  const which = endpointId === undefined ? '' : `AND endpoint.id = ${params.add(endpointId, 'text')}`
  const isOfDelivery = (table: string) =>
    `${table}.org_id = ${organization} AND ${table}.endpoint_id = page.endpoint_id AND ${table}.event_id = page.event_id`
  return `SELECT page.*, event.created_at, attempt.started_at AS last_attempt_at, attempt.status AS last_status,
      attempt.error AS last_error, attempt.duration_ms AS last_duration_ms,
      ARRAY(SELECT coalesce(status, 0) FROM webhook_attempts AS shown
        WHERE ${isOfDelivery('shown')} AND shown.number > page.attempts - 10 ORDER BY shown.number) AS answers
    FROM (
      SELECT delivery.*, endpoint.shown_url AS endpoint_url, endpoint.state AS endpoint_state FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
        SELECT endpoint_id, event_id, event_type, state, attempts, due_at FROM webhook_deliveries AS delivery
        WHERE ${conditions.join(' AND ')} ORDER BY delivery.event_id DESC LIMIT ${size}) AS delivery
      WHERE endpoint.org_id = ${organization} ${which}
      ORDER BY delivery.event_id DESC, delivery.endpoint_id DESC LIMIT ${size}) AS page
    CROSS JOIN LATERAL ${eventWith(organization, 'page.event_id')} AS event
    LEFT JOIN webhook_attempts AS attempt ON ${isOfDelivery('attempt')} AND attempt.number = page.attempts
    ORDER BY page.event_id DESC, page.endpoint_id DESC`
}

function countOf(state: 'pending' | 'failed'): string {
  return `(SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries AS delivery
    WHERE delivery.org_id = endpoint.org_id AND delivery.endpoint_id = endpoint.id AND delivery.state = '${state}'
    LIMIT ${COUNTED_MAX + 1}) AS counted)`
}
