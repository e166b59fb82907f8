import type { Database, Row } from './database.ts'
import { Params, type RowOf } from './tables.ts'
import { FREE, OVER } from './webhook-statements.ts'

/** A delivery that this node holds for a while, with everything an attempt needs. */
export interface LeasedDelivery {
  org_id: string
  endpoint_id: string
  event_id: string
  attempts: number
  schedule_step: number
  url: string
  secret: string
  previous_secret: string | null
  previous_secret_until: string | null
  type: string
  created_at: string
  data: string
}

/** How much may be leased, and what this node holds already. */
export interface LeaseRequest {
  now: string
  leaseSeconds: number
  /** Deliveries in all. */
  limit: number
  /** Deliveries to one endpoint, those already held included. */
  perEndpoint: number
  held: readonly { org_id: string; endpoint_id: string; held: number }[]
}

/** What became of a delivery after one attempt. */
export interface SettledAttempt extends Omit<RowOf<'webhook_attempts'>, 'number'> {
  /** The number of this attempt; another that was recorded under it first makes this one void. */
  number: number
  state: 'pending' | 'delivered' | 'failed'
  schedule_step: number
  due_at: string
}

/** An endpoint that has failed since then. */
export interface FailingEndpoint {
  org_id: string
  id: string
  failing_since: string
}

/** What the dispatcher reads and writes. */
export function webhookDispatchQueries(database: Database) {
  return {
    /**
     * Takes due deliveries, fairly: the first of each endpoint before the second of any, so that a long queue of one
     * holds up nobody else's. Nodes that ask at the same moment find some of the same rows, and the condition on
     * `leased_until` gives each row to one of them. Leases live by the database's clock, which all nodes share. Rows are
     * updated by their key alone: a condition on `state` as well would lead the planner to the index of what is due, and
     * from there through the whole queue for every row.
     */
    async leaseDeliveries({ now, leaseSeconds, limit, perEndpoint, held }: LeaseRequest): Promise<LeasedDelivery[]> {
      return database.query<LeasedDelivery & Row>(
        `WITH leased AS (
           UPDATE webhook_deliveries SET leased_until = now() + make_interval(secs => $1)
           WHERE (org_id, endpoint_id, event_id) IN (
             SELECT due.org_id, due.endpoint_id, due.event_id FROM webhook_endpoints AS endpoint
             LEFT JOIN unnest($2::text[], $3::text[], $4::integer[]) AS busy (org_id, endpoint_id, count)
               ON busy.org_id = endpoint.org_id AND busy.endpoint_id = endpoint.id
             CROSS JOIN LATERAL (
               SELECT org_id, endpoint_id, event_id, due_at, row_number() OVER (ORDER BY due_at) + coalesce(busy.count, 0) AS place
               FROM webhook_deliveries
               WHERE org_id = endpoint.org_id AND endpoint_id = endpoint.id AND state = 'pending'
                 AND due_at <= $5::timestamptz AND leased_until <= now()
               ORDER BY due_at LIMIT greatest($6::integer - coalesce(busy.count, 0), 0)
             ) AS due
             WHERE endpoint.state = 'enabled' ORDER BY due.place, due.due_at LIMIT $7
           ) AND leased_until <= now()
           RETURNING org_id, endpoint_id, event_id, attempts, schedule_step
         )
         SELECT leased.*, endpoint.url, endpoint.secret, endpoint.previous_secret, endpoint.previous_secret_until,
           event.type, event.created_at, event.data
         FROM leased
         JOIN webhook_endpoints AS endpoint ON endpoint.org_id = leased.org_id AND endpoint.id = leased.endpoint_id
         JOIN events AS event ON event.org_id = leased.org_id AND event.id = leased.event_id`,
        [
          leaseSeconds,
          held.map(({ org_id }) => org_id),
          held.map(({ endpoint_id }) => endpoint_id),
          held.map((line) => line.held),
          now,
          perEndpoint,
          limit,
        ],
      )
    },

    /** Gives back what was leased and not begun, so that another node need not wait for the lease to run out. */
    async releaseDeliveries(
      deliveries: readonly Pick<LeasedDelivery, 'org_id' | 'endpoint_id' | 'event_id'>[],
    ): Promise<void> {
      await database.query(
        `UPDATE webhook_deliveries AS delivery SET leased_until = '${FREE}'
         FROM unnest($1::text[], $2::text[], $3::text[]) AS released (org_id, endpoint_id, event_id)
         WHERE delivery.org_id = released.org_id AND delivery.endpoint_id = released.endpoint_id
           AND delivery.event_id = released.event_id`,
        [
          deliveries.map(({ org_id }) => org_id),
          deliveries.map(({ endpoint_id }) => endpoint_id),
          deliveries.map(({ event_id }) => event_id),
        ],
      )
    },

    /**
     * Records attempts, whole or not at all: the attempt, the fate of its delivery, the health of its endpoint, and what
     * was used. An attempt whose lease had run out may find its number taken; then another told of this delivery first.
     * Returns the endpoints that fail and have done nothing else since a given moment.
     */
    async settleAttempts(
      attempts: readonly SettledAttempt[],
      { day, node, failingSince }: { day: string; node: string; failingSince: string },
    ): Promise<FailingEndpoint[]> {
      const params = new Params()
      const sql = `WITH attempt AS (SELECT * FROM ${unnestAttempts(attempts, params)}),
        settled AS (
          UPDATE webhook_deliveries AS delivery SET state = attempt.state, attempts = attempt.number,
            schedule_step = attempt.schedule_step, due_at = attempt.due_at,
            leased_until = CASE WHEN attempt.state = 'pending' THEN '${FREE}' ELSE '${OVER}' END::timestamptz
          FROM attempt
          WHERE delivery.org_id = attempt.org_id AND delivery.endpoint_id = attempt.endpoint_id AND delivery.event_id = attempt.event_id
            AND delivery.attempts = attempt.number - 1
          RETURNING delivery.org_id, delivery.endpoint_id, delivery.event_id, attempt.state, attempt.started_at
        ),
        recorded AS (
          INSERT INTO webhook_attempts (org_id, endpoint_id, event_id, number, started_at, duration_ms, status, error, response)
          SELECT attempt.org_id, attempt.endpoint_id, attempt.event_id, attempt.number, attempt.started_at, attempt.duration_ms,
            attempt.status, attempt.error, attempt.response
          FROM attempt JOIN settled USING (org_id, endpoint_id, event_id)
        ),
        used AS (
          INSERT INTO usage_by_day (org_id, day, node, counter, count)
          SELECT org_id, ${params.add(day, 'date')}, ${params.add(node, 'text')}, 'webhook_deliveries', count(*) FROM settled
          WHERE state = 'delivered' GROUP BY org_id
          ON CONFLICT (org_id, day, node, counter) DO UPDATE SET count = usage_by_day.count + excluded.count
        ),
        health AS (
          SELECT org_id, endpoint_id, bool_or(state = 'delivered') AS well, min(started_at) AS since
          FROM settled GROUP BY org_id, endpoint_id
        ),
        examined AS (
          UPDATE webhook_endpoints AS endpoint
          SET failing_since = CASE WHEN health.well THEN NULL ELSE coalesce(endpoint.failing_since, health.since) END
          FROM health
          WHERE endpoint.org_id = health.org_id AND endpoint.id = health.endpoint_id
            AND health.well = (endpoint.failing_since IS NOT NULL)
        )
        SELECT endpoint.org_id, endpoint.id, endpoint.failing_since FROM health
        JOIN webhook_endpoints AS endpoint ON endpoint.org_id = health.org_id AND endpoint.id = health.endpoint_id
        WHERE NOT health.well AND endpoint.state = 'enabled' AND endpoint.failing_since <= ${params.add(failingSince, 'timestamptz')}`
      return database.query<FailingEndpoint & Row>(sql, params.values)
    },
  }
}

const SETTLED_COLUMNS = {
  org_id: 'text',
  endpoint_id: 'text',
  event_id: 'text',
  number: 'integer',
  started_at: 'timestamptz',
  duration_ms: 'integer',
  status: 'integer',
  error: 'text',
  response: 'text',
  state: 'text',
  schedule_step: 'integer',
  due_at: 'timestamptz',
} as const satisfies Record<keyof SettledAttempt, string>

function unnestAttempts(attempts: readonly SettledAttempt[], params: Params): string {
  const columns = Object.entries(SETTLED_COLUMNS) as [keyof SettledAttempt, string][]
  const arrays = columns.map(([name, type]) =>
    params.add(
      attempts.map((attempt) => attempt[name]),
      `${type}[]`,
    ),
  )
  return `unnest(${arrays.join(', ')}) AS attempt (${columns.map(([name]) => name).join(', ')})`
}
